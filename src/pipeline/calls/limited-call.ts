import type { Scope } from "../../cancellation/index.js";
import { nameOf } from "../../internal/name-of.js";
import { currentFrame, deriveFrame, runInFrame } from "../../context/index.js";
import type { Run } from "../../lifespan/index.js";
import type { AnyFunction, Call, FnRules } from "./fn-options.js";
import { Item, type SlotHolder } from "../run/item.js";
import { callAtRate } from "./rated-call.js";
import { Slots } from "../run/slots.js";

/** The way to call `f` under the limits of its options: first a slot, then tokens. */
export function limitCalls(f: AnyFunction, { name = nameOf(f), rate, concurrency }: FnRules): Call {
  const call = rate === undefined ? callFreely(f) : callAtRate(f, rate, name);
  return concurrency === undefined || concurrency === Infinity
    ? call
    : callWithSlot(call, new Slots(concurrency));
}

function callFreely(f: AnyFunction): Call {
  return async (self, args) => (await f.apply(self, args)) as unknown;
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
