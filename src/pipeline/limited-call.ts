import type { Scope } from "../cancellation/index.js";
import { currentFrame, deriveFrame, runInFrame, useContext } from "../context/index.js";
import { InvalidArgumentError } from "../errors.js";
import { requireCount } from "../internal/checks.js";
import type { Run } from "../lifespan/index.js";
import type { Limiter } from "../rate-limit/index.js";
import type { AnyFunction, CorrectableLimiter, FnRules, RateLimitRule } from "./fn-options.js";
import { Item, type SlotHolder } from "./item.js";
import { Slots } from "./slots.js";

type Call = (self: unknown, args: unknown[]) => Promise<unknown>;

/** The way to call `f` under the limits of its options: first a slot, then tokens. */
export function limitCalls(f: AnyFunction, { rate, concurrency }: FnRules): Call {
  const call = rate === undefined ? callFreely(f) : callAtRate(f, rate);
  return concurrency === undefined || concurrency === Infinity
    ? call
    : callWithSlot(call, new Slots(concurrency));
}

function callFreely(f: AnyFunction): Call {
  return async (self, args) => (await f.apply(self, args)) as unknown;
}

function callAtRate(f: AnyFunction, { key, cost, settle }: RateLimitRule): Call {
  return async (self, args) => {
    const limiter = useContext(key);
    requireLimiter(limiter);
    if (settle !== undefined) requireCorrectable(limiter);
    const estimate = requireCount("cost", cost(...args));
    await limiter.acquire(estimate);
    const result = (await f.apply(self, args)) as unknown;
    if (settle !== undefined) await correct(limiter as CorrectableLimiter, estimate, settle(result, ...args));
    return result;
  };
}

function requireLimiter(limiter: Limiter): void {
  if (typeof (limiter as Partial<Limiter> | null | undefined)?.acquire === "function") return;
  throw new InvalidArgumentError("rateLimit", "the key of a limiter: its value needs acquire()", limiter);
}

function requireCorrectable(limiter: Limiter): void {
  const { refund, charge } = limiter as Partial<CorrectableLimiter>;
  if (typeof refund === "function" && typeof charge === "function") return;
  throw new InvalidArgumentError(
    "rateLimit.key",
    "the key of a limiter with refund() and charge(), such as a RateLimiter, when settle is given",
    limiter,
  );
}

async function correct(limiter: CorrectableLimiter, estimate: number, actual: number): Promise<void> {
  requireCount("settle", actual);
  if (actual < estimate) await limiter.refund(estimate - actual);
  if (actual > estimate) await limiter.charge(actual - estimate);
}

function callWithSlot(call: Call, slots: Slots): Call {
  return async (self, args) => {
    const frame = currentFrame();
    await takeSlot(slots, frame?.scope);
    const outer = frame?.item as SlotHolder | undefined;
    const runScope = (frame?.run as Run | undefined)?.scope;
    // In the frame, so that a fan-out within finds it and gives the slot up for as long as it waits for its items.
    const item = new Item({ slots, depth: outer?.depth ?? 0, runScope }, outer);
    try {
      return await runInFrame(deriveFrame(frame, { item }), () => call(self, args));
    } finally {
      item.end();
    }
  };
}

/** Waits for a slot in the order of the calls. When the scope ends, it stops waiting, with the reason of the scope. */
async function takeSlot(slots: Slots, scope: Scope | undefined): Promise<void> {
  if (slots.tryTake()) return;
  if (scope?.ended === true) throw scope.reason;
  const request = slots.request(0, false);
  const listener = {
    scopeEnded: (): void => {
      slots.withdraw(request);
    },
  };
  scope?.add(listener);
  await request.settled;
  scope?.remove(listener);
  if (!request.granted) throw scope?.reason;
}
