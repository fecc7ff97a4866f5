import { type Frame, isPlainPromise, keepInside, runInFrame } from "../../context/index.js";
import { Item, type SlotPlace } from "../run/item.js";
import type { CallCounter } from "../run/run-tally.js";
import { isThenable } from "../../internal/thenable.js";
import type { Outlet } from "./outlet.js";

/** Receives the result of one item in flight; used again for later items, since a promise takes two closures. */
interface Lane {
  /** Where its result goes. */
  place: number;
  item: Item | undefined;
  readonly onValue: (value: unknown) => void;
  readonly onError: (error: unknown) => void;
}

/** Is told how items ended. */
export interface LanesOwner {
  itemFailed(error: unknown): void;
  /** After each item, failed or not. The owner ends it, which gives its slot back. */
  itemDone(item: Item): void;
  /** After `itemDone`, when that did not happen within `start`. */
  itemSettled(): void;
}

/** The items in flight of one fan-out, each in a frame of its own. */
export class Lanes<T, R> {
  inFlight = 0;
  started = 0;
  readonly #f: (item: T) => R | PromiseLike<R>;
  /** What the frames of all items have in common. */
  readonly #frame: Frame;
  readonly #place: SlotPlace;
  readonly #owner: LanesOwner;
  readonly #outlet: Outlet<R>;
  /** Undefined when `f` counts its calls itself, and when nobody can look. */
  readonly #counter: CallCounter | undefined;
  readonly #idle: Lane[] = [];
  /** What `#call` works on: fields, so that no closure has to be made for each item. */
  #value: T | undefined;
  #valueFrame: Frame | undefined;

  constructor(
    f: (item: T) => R | PromiseLike<R>,
    frame: Frame,
    place: SlotPlace,
    owner: LanesOwner,
    outlet: Outlet<R>,
    counter: CallCounter | undefined,
  ) {
    this.#f = f;
    this.#frame = frame;
    this.#place = place;
    this.#owner = owner;
    this.#outlet = outlet;
    this.#counter = counter;
  }

  /** Calls `f`. The slot for it has been taken. */
  start(value: T): void {
    this.started += 1;
    this.#counter?.begin();
    const item = new Item(this.#place);
    const place = this.#outlet.reserve();
    const frame: Frame = { ...this.#frame, item };
    this.#value = value;
    this.#valueFrame = frame;
    let result: unknown;
    let pending: Promise<unknown> | undefined;
    try {
      result = runInFrame(frame, this.#call);
      pending = isThenable(result) ? promiseOf(result) : undefined;
    } catch (error) {
      this.#counter?.end(true);
      this.#owner.itemFailed(error);
      this.#owner.itemDone(item);
      return;
    }
    if (pending !== undefined) {
      this.inFlight += 1;
      const lane = this.#idle.pop() ?? this.#makeLane();
      lane.place = place;
      lane.item = item;
      pending.then(lane.onValue, lane.onError);
    } else {
      this.#counter?.end(false);
      this.#outlet.put(place, result as R);
      this.#owner.itemDone(item);
    }
  }

  readonly #call = (): unknown => {
    const f = this.#f;
    return keepInside(this.#valueFrame, f(this.#value as T));
  };

  #makeLane(): Lane {
    const lane: Lane = {
      place: 0,
      item: undefined,
      onValue: (value) => {
        this.#counter?.end(false);
        this.#outlet.put(lane.place, value as R);
        this.#end(lane);
      },
      onError: (error) => {
        this.#counter?.end(true);
        this.#owner.itemFailed(error);
        this.#end(lane);
      },
    };
    return lane;
  }

  #end(lane: Lane): void {
    const item = lane.item as Item;
    lane.item = undefined;
    this.inFlight -= 1;
    this.#idle.push(lane);
    this.#owner.itemDone(item);
    this.#owner.itemSettled();
  }
}

/** A promise that settles as `result` does; a plain promise is taken as it is. */
function promiseOf(result: PromiseLike<unknown>): Promise<unknown> {
  if (isPlainPromise(result)) return result;
  return new Promise((resolve) => {
    resolve(result);
  });
}
