/**
 * What it costs that others can look: a limiter and an `fn` while nobody does, after somebody has, and while channels
 * without subscribers, metrics or spans are on.
 */
import { App, Environment, fn, RateLimiter } from "tidegate";
import { publishEvents } from "tidegate/diagnostics-channel";
import { instrument } from "tidegate/opentelemetry";
import { cpuMs } from "../support/cpu-time.mjs";
import { alternate } from "../support/fresh-process.mjs";
import { formatRatio, median, ratioOf, samplesOf } from "../support/statistics.mjs";
import { goalVerdict } from "../support/table.mjs";

const ROUNDS = 5;
const CALLS = 100_000;
const WARM_UP = 3;
const SAMPLES = 9;
/** What is left of a look that is over: nothing but the noise of the machine. */
const GOAL = 1.1;

export const contestants = {
  nobody: () => cost(),
  afterwards() {
    const ends = [publishEvents(), instrument({ spans: true })];
    for (const end of ends) end();
    return cost();
  },
  channels() {
    publishEvents();
    return cost();
  },
  telemetry() {
    instrument({ spans: true }); // without a provider: the API alone
    return cost();
  },
};

export async function measure() {
  const names = ["nobody", "afterwards", "channels", "telemetry"];
  const results = await alternate("observers", names, ROUNDS);
  const row = (what, contestant, of, goal) => {
    const values = (name) => results[name].map((result) => result[of]);
    const ratio = ratioOf(values(contestant), values("nobody"));
    return {
      what,
      figure: `${median(values(contestant)).toFixed(1)} ns`,
      ratio: contestant === "nobody" ? "" : formatRatio(ratio),
      ...(goal && { goal: `at most ${String(GOAL)}x`, verdict: goalVerdict(ratio.median <= GOAL) }),
    };
  };
  return {
    title: "CPU time of one call: `tryAcquire()`, and an async `fn` inside a run",
    rows: [
      row("tryAcquire(), nobody looks", "nobody", "take", false),
      row("the same, when all who looked have ended", "afterwards", "take", true),
      row("channels are published, and nobody has subscribed", "channels", "take", false),
      row("metrics, without a provider", "telemetry", "take", false),
      row("fn, nobody looks", "nobody", "call", false),
      row("the same, when all who looked have ended", "afterwards", "call", true),
      row("spans, without a provider", "telemetry", "call", false),
    ],
    faults: [],
  };
}

async function cost() {
  const limiter = new RateLimiter({ maxRowsPerSecond: 1, burstWindowSecs: 1e9 });
  const double = fn(async (n) => n * 2);
  const environment = await new Environment().start();
  const result = await new App({ name: "bench", environment }, async () => ({
    take: await nanoseconds(() => limiter.tryAcquire()),
    call: await nanoseconds(() => double(1)),
  })).run();
  await environment.stop();
  return result;
}

async function nanoseconds(call) {
  const samples = await samplesOf(WARM_UP, SAMPLES, async () => {
    const started = cpuMs();
    for (let count = 0; count < CALLS; count += 1) await call();
    return ((cpuMs() - started) * 1e6) / CALLS;
  });
  return median(samples);
}
