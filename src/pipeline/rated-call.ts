import { useContext } from "../context/index.js";
import { InvalidArgumentError } from "../errors.js";
import { requireCount } from "../internal/checks.js";
import type { AnyFunction, Call, CorrectableLimiter, RateLimitRule } from "./fn-options.js";

/** What a key may lead to: a limiter, which takes a number and gives nothing, or a budget, which gives a permit. */
interface Taker {
  acquire(cost: unknown): Promise<unknown>;
}

/** Sets right what a call has taken, by what it has needed. */
type Settle = (actual: unknown) => unknown;

/** The way to call `f` once its tokens are there. */
export function callAtRate(f: AnyFunction, { key, cost, settle }: RateLimitRule): Call {
  return async (self, args) => {
    const taker = requireTaker(useContext(key));
    const correct = await take(taker, cost(...args), settle !== undefined);
    const result = (await f.apply(self, args)) as unknown;
    if (settle !== undefined) await correct(settle(result, ...args));
    return result;
  };
}

/** @param settles - Whether the taking is to be set right later; when that is not possible, it fails now. */
async function take(taker: Taker, cost: unknown, settles: boolean): Promise<Settle> {
  if (typeof cost === "object" && cost !== null) {
    const permit = await taker.acquire(cost);
    if (settles) requirePermit(permit);
    return (actual) => (permit as Permit).settle(actual);
  }
  const estimate = requireCount("cost", cost);
  if (settles) requireCorrectable(taker);
  await taker.acquire(estimate);
  return (actual) => correctBy(taker as unknown as CorrectableLimiter, estimate, actual);
}

function correctBy(limiter: CorrectableLimiter, estimate: number, actual: unknown): unknown {
  const needed = requireCount("settle", actual);
  if (needed < estimate) return limiter.refund(estimate - needed);
  return needed > estimate ? limiter.charge(needed - estimate) : undefined;
}

/** A permit of a budget in this process or elsewhere. */
interface Permit {
  settle(actual: unknown): unknown;
}

function requireTaker(value: unknown): Taker {
  if (typeof (value as Partial<Taker> | null | undefined)?.acquire === "function") return value as Taker;
  throw new InvalidArgumentError("rateLimit", "the key of a limiter: its value needs acquire()", value);
}

function requirePermit(value: unknown): void {
  if (typeof (value as Partial<Permit> | null | undefined)?.settle === "function") return;
  throw new InvalidArgumentError(
    "rateLimit.key",
    "the key of a budget, whose acquire() gives a permit, when cost gives a record and settle is given",
    value,
  );
}

function requireCorrectable(taker: Taker): void {
  const { refund, charge } = taker as Partial<CorrectableLimiter>;
  if (typeof refund === "function" && typeof charge === "function") return;
  throw new InvalidArgumentError(
    "rateLimit.key",
    "the key of a limiter with refund() and charge(), such as a RateLimiter, when settle is given",
    taker,
  );
}
