/** Processes that share one rate: how much they get together, at what distances, and what it costs. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { connect } from "../peers/faults/redis.mjs";
import { overshoot } from "../support/grants.mjs";
import { withRedis } from "../support/redis-server.mjs";
import { scriptsRun } from "../support/script-calls.mjs";

const CHILD = fileURLToPath(new URL("shared-child.mjs", import.meta.url));

/** From when all are ready until they start, in milliseconds. */
const LEAD_MS = 50;
/** So often the answers of the server are timed while they run. */
const PING_MS = 10;

/**
 * @typedef {object} Load
 * @property {number} processes
 * @property {number} waiters In each of them.
 * @property {number} rate Tokens a second of all together.
 * @property {number} burst
 * @property {number} forMs
 */

/**
 * @typedef {object} Shared
 * @property {number} over Tokens that the worst window holds too many, as the callers saw it.
 * @property {number} jitterMs The slowest answer of the server less the quickest.
 * @property {number} used Of what the rate and the burst give, a share.
 * @property {number} leastShare What the process got that got least, where 1 is as much as the others.
 * @property {number} mostShare
 * @property {number} calls Scripts run for each token.
 * @property {number} cpuMicros Processor time of the clients for each token.
 * @property {number} p50 Of the waits, in milliseconds.
 * @property {number} p99
 */

/**
 * @param {string} contestant
 * @param {Load} load
 * @returns {Promise<Shared>}
 */
export function measureShared(contestant, load) {
  return withRedis("stock", async (port) => {
    const { processes, rate, burst, forMs } = load;
    const input = JSON.stringify({ contestant, port, ...load });
    const children = Array.from({ length: processes }, () => fork(CHILD, [input]));
    const failed = Promise.race(children.map(failureOf));
    await Promise.race([Promise.all(children.map((child) => once(child, "message"))), failed]);
    const client = connect(port);
    const before = await scriptsRun(client);
    const startAt = performance.timeOrigin + performance.now() + LEAD_MS;
    const results = children.map((child) => once(child, "message"));
    for (const child of children) child.send(startAt);
    const timed = timePings(client, LEAD_MS + forMs);
    const perProcess = (await Promise.race([Promise.all(results), failed])).map(([result]) => result);
    const calls = (await scriptsRun(client)) - before;
    const jitterMs = await timed;
    client.disconnect();

    const times = perProcess.flatMap((result) => result.times).sort((a, b) => a - b);
    const waits = perProcess.flatMap((result) => result.waits).sort((a, b) => a - b);
    const shares = perProcess.map((result) => (result.times.length * processes) / times.length);
    const sum = perProcess.reduce((total, result) => total + result.cpuMs, 0);
    return {
      over: Math.max(0, overshoot(times, rate, burst)),
      jitterMs,
      used: times.length / (burst + (rate * forMs) / 1000),
      leastShare: Math.min(...shares),
      mostShare: Math.max(...shares),
      calls: calls / times.length,
      cpuMicros: (sum * 1000) / times.length,
      p50: quantile(waits, 0.5),
      p99: quantile(waits, 0.99),
    };
  });
}

/** Rejects when a child ends with an error. */
function failureOf(child) {
  const failed = new Promise((_, reject) => {
    child.once("exit", (code, signal) => {
      if (code !== 0) reject(new Error(`a process has ended with ${String(code ?? signal)}`));
    });
  });
  failed.catch(() => undefined); // also when nobody waits for it any more
  return failed;
}

async function timePings(client, forMs) {
  const took = [];
  const endAt = performance.now() + forMs;
  while (performance.now() < endAt) {
    const sentAt = performance.now();
    await client.ping();
    took.push(performance.now() - sentAt);
    await new Promise((resolve) => setTimeout(resolve, PING_MS));
  }
  return Math.max(...took) - Math.min(...took);
}

function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}
