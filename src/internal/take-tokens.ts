import { InvalidArgumentError } from "../errors.js";
import { requireCount } from "./checks.js";
import { warn } from "./warn.js";

/** What tokens are taken from: a limiter, which takes a number and gives nothing, or a budget, which gives a permit. */
export interface Taker {
  acquire(cost: unknown, options?: { readonly signal?: AbortSignal | undefined }): Promise<unknown>;
}

/** A limiter that takes corrections after the fact. */
interface Correctable {
  refund(n: number): unknown;
  charge(n: number): unknown;
}

/** A permit of a budget, in this process or elsewhere. */
interface Permit {
  settle(actual: unknown): unknown;
}

/** Sets right what was taken, by what was needed. */
export type Settle = (actual: unknown) => unknown;

/** Returns `value` when tokens can be taken from it; else throws. */
export function requireTaker(option: string, value: unknown): Taker {
  if (typeof (value as Partial<Taker> | null | undefined)?.acquire === "function") return value as Taker;
  throw new InvalidArgumentError(option, "the key of a limiter: its value needs acquire()", value);
}

/**
 * Takes what a call costs: a number of tokens from a limiter, or a record of them from a budget.
 *
 * @param settles - Whether the taking is to be set right later; when that is not possible, it fails now.
 * @param option - Where the user has named the taker, for errors.
 */
export async function takeTokens(
  taker: Taker,
  cost: unknown,
  settles: boolean,
  option: string,
  signal?: AbortSignal,
): Promise<Settle> {
  const options = signal === undefined ? undefined : { signal };
  if (typeof cost === "object" && cost !== null) {
    const permit = await taker.acquire(cost, options);
    if (settles) requirePermit(option, permit);
    return (actual) => (permit as Permit).settle(actual);
  }
  const estimate = requireCount("cost", cost);
  if (settles) requireCorrectable(option, taker);
  await taker.acquire(estimate, options);
  return (actual) => correctBy(taker as unknown as Correctable, estimate, actual);
}

/**
 * Sets right what a call has taken, by what it has needed. When that fails the estimate stands, and the developer is
 * warned: the result is there and has been paid for, so an error in its place would make callers ask again.
 *
 * @param who - Whose `settle` it is.
 * @param needed - What the user's `settle` gives; undefined for the estimate.
 */
export async function settleOrWarn(who: string, settle: Settle, needed: () => unknown): Promise<void> {
  try {
    const actual = await needed();
    if (actual !== undefined) await settle(actual);
  } catch (error) {
    warn(`The settle of ${who} failed, so the estimate stands: ${String(error)}`, "TIDEGATE_SETTLE_FAILED");
  }
}

function correctBy(limiter: Correctable, estimate: number, actual: unknown): unknown {
  const needed = requireCount("settle", actual);
  if (needed < estimate) return limiter.refund(estimate - needed);
  return needed > estimate ? limiter.charge(needed - estimate) : undefined;
}

function requirePermit(option: string, value: unknown): void {
  if (typeof (value as Partial<Permit> | null | undefined)?.settle === "function") return;
  throw new InvalidArgumentError(
    option,
    "a budget, or the key of one, whose acquire() gives a permit, when cost gives a record and settle is given",
    value,
  );
}

function requireCorrectable(option: string, taker: Taker): void {
  const { refund, charge } = taker as unknown as Partial<Correctable>;
  if (typeof refund === "function" && typeof charge === "function") return;
  throw new InvalidArgumentError(
    option,
    "a limiter with refund() and charge(), such as a RateLimiter, or the key of one, when settle is given",
    taker,
  );
}
