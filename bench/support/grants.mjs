/** How late a timer may be and still have its tokens made up for (law 2), in milliseconds. */
const LATE_TIMER_MS = 5;
/** Sums of doubles come out a hair off. */
const ROUNDING_TOKENS = 1e-3;

/**
 * The clock of the platform, which remembers what it has last said: the moment by which a limiter granted what it has
 * just granted. The callers see it later, by as much as a busy machine holds them up, and a window between two such
 * moments says more about the machine than about the limiter.
 */
export class ReadClock {
  lastReading = performance.now();

  now() {
    this.lastReading = performance.now();
    return this.lastReading;
  }

  schedule(delayMs, callback) {
    const timer = setTimeout(callback, Math.ceil(delayMs));
    return () => {
      clearTimeout(timer);
    };
  }
}

/**
 * @typedef {object} GrantLog What was granted, in order.
 * @property {number[]} times What the limiter's clock said at each grant, in milliseconds.
 * @property {number[]} seen When its caller saw it.
 * @property {number[]} callers Which caller it was; they are numbered in the order in which they came.
 */

/**
 * Lets callers wait at a limiter, and records when each of them is granted.
 *
 * @param {import("tidegate/rate-limit").Limiter} limiter
 * @param {ReadClock} clock The clock of that limiter.
 * @param {number} callers How many.
 * @param {number} burst Tokens in the bucket. Their callers come first, in a turn of their own: what is granted at
 *   once is seen when the turn is over, and queueing all the others takes milliseconds.
 * @returns {Promise<GrantLog>}
 */
export async function logBacklog(limiter, clock, callers, burst) {
  const log = { times: [], seen: [], callers: [] };
  const wait = async (caller) => {
    await limiter.acquire();
    log.times.push(clock.lastReading);
    log.seen.push(performance.now());
    log.callers.push(caller);
  };
  const numbers = Array.from({ length: callers }, (_, caller) => caller);
  await Promise.all(numbers.slice(0, burst).map(wait));
  await Promise.all(numbers.slice(burst).map(wait));
  return log;
}

/**
 * The most tokens granted in any window above what the bucket may give: over all pairs of grants `i <= j`, the tokens
 * from `i` to `j` less `burst + rate * (time between)`. One pass: the best `i` for each `j` is the one with the least
 * `i - rate * time`.
 *
 * @param {number[]} times In milliseconds, one token each.
 * @param {number} rate Tokens a second.
 * @param {number} burst Tokens that the full bucket holds.
 */
export function overshoot(times, rate, burst) {
  let least = Infinity;
  let most = -Infinity;
  for (const [index, time] of times.entries()) {
    const position = index - (time * rate) / 1000;
    least = Math.min(least, position);
    most = Math.max(most, position - least + 1);
  }
  return most - burst;
}

/** Tokens that law 2 allows above the bucket on a real clock. */
export function allowance(rate) {
  return (rate * LATE_TIMER_MS) / 1000;
}

/**
 * What is wrong with a log of grants; empty when nothing is.
 *
 * @param {GrantLog} log
 * @param {number} rate
 * @param {number} burst
 */
export function faultsOf({ times, seen, callers }, rate, burst) {
  const faults = [];
  const over = overshoot(times, rate, burst);
  if (over > allowance(rate) + ROUNDING_TOKENS) {
    faults.push(
      `law 2 is broken: ${over.toFixed(2)} tokens too many, ${String(allowance(rate))} are allowed`,
    );
  }
  if (times.some((time, index) => time > seen[index])) faults.push("a grant came before its time");
  const wrong = callers.findIndex((caller, index) => caller !== index);
  if (wrong !== -1) {
    faults.push(`order is broken: grant ${String(wrong)} went to caller ${String(callers[wrong])}`);
  }
  return faults;
}
