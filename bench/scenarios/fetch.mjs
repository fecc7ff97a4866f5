/** What limitFetch adds to a bare fetch against a server on loopback, which runs in a process of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { RateBudget, RateLimiter } from "tidegate";
import { limitFetch } from "tidegate/fetch";
import { cpuMs } from "../support/cpu-time.mjs";
import { alternate } from "../support/fresh-process.mjs";
import { formatRatio, median, ratioOf } from "../support/statistics.mjs";
import { goalVerdict } from "../support/table.mjs";

const SERVER = fileURLToPath(new URL("../support/loopback-server.mjs", import.meta.url));
const ROUNDS = 5;
const GOAL = 1.15;
const CALLS = 320; // a sample: a multiple of each width
const WARM_UP = 3; // the client and the server are compiled while these run
const SAMPLES = 5;
const WIDTHS = [1, 16];
const BODY = JSON.stringify({
  model: "local",
  messages: [{ role: "user", content: "How high is the tide?" }],
});

export const contestants = {
  floor: (width) => perCall(globalThis.fetch, width),
  ours: (width) => perCall(limitFetch(new RateLimiter({ maxRowsPerSecond: 1e6 })), width),
  /** What a client of a model does: both bodies are read as JSON, a second time. */
  reading(width) {
    const rate = { maxRowsPerSecond: 1e9 };
    const limited = limitFetch(new RateBudget({ requests: rate, tokens: rate }), {
      cost: async (request) => {
        const { messages } = await request.json();
        return { requests: 1, tokens: messages[0].content.length };
      },
      settle: async (answer) => ({ tokens: (await answer.json()).usage.total_tokens }),
    });
    return perCall(limited, width);
  },
};

export async function measure() {
  const rows = [];
  for (const width of WIDTHS) {
    const results = await alternate("fetch", ["floor", "ours", "reading"], ROUNDS, width);
    rows.push(...rowsOf(results, width));
  }
  return { title: "a POST and the reading of its answer, server in another process", rows, faults: [] };
}

/** The goal is on what a client can do with its processor and on what its user waits. */
function rowsOf({ floor, ours, reading }, width) {
  const flight = width === 1 ? "one after another" : `${String(width)} in flight`;
  const row = (what, unit, results, goal) => {
    const figures = results.map((result) => result[unit]);
    const ratio = ratioOf(
      figures,
      floor.map((result) => result[unit]),
    );
    return {
      what: `${what}, ${flight}`,
      figure: `${median(figures).toFixed(0)} µs ${unit}`,
      ratio: results === floor ? "" : formatRatio(ratio),
      ...(goal && { goal: `at most ${String(GOAL)}x`, verdict: goalVerdict(ratio.median <= GOAL) }),
    };
  };
  return ["cpu", "wall"].flatMap((unit) => [
    row("floor: fetch", unit, floor, false),
    row("limitFetch", unit, ours, true),
    row("with cost and settle from the bodies", unit, reading, false),
  ]);
}

/** Microseconds of this process, and on the clock, for one call: the medians of many samples. */
async function perCall(fetch, width) {
  const server = spawn(process.execPath, [SERVER], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = await once(server.stdout, "data");
  const url = `http://127.0.0.1:${String(port).trim()}/`;
  let bytes = 0;
  const calls = async (count) => {
    for (let call = 0; call < count; call += 1) {
      const response = await fetch(url, { method: "POST", body: BODY });
      bytes += (await response.text()).length;
    }
  };
  const samples = { cpu: [], wall: [] };
  for (let sample = -WARM_UP; sample < SAMPLES; sample += 1) {
    const [cpuBefore, before] = [cpuMs(), performance.now()];
    await Promise.all(Array.from({ length: width }, () => calls(CALLS / width)));
    if (sample < 0) continue;
    samples.cpu.push(((cpuMs() - cpuBefore) * 1000) / CALLS);
    samples.wall.push(((performance.now() - before) * 1000) / CALLS);
  }
  server.stdin.end();
  return { cpu: median(samples.cpu), wall: median(samples.wall), bytes };
}
