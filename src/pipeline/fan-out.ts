import { Scope } from "../cancellation/index.js";
import { currentFrame, deriveFrame } from "../context/index.js";
import type { Run } from "../lifespan/index.js";
import { RunAbortedError } from "./errors.js";
import type { Item, SlotHolder, SlotPlace } from "./item.js";
import { Lanes, type LanesOwner } from "./lanes.js";
import type { Failure, Outlet } from "./outlet.js";
import { OutsideWatch } from "./outside.js";
import type { FanoutCount } from "./run-tally.js";
import { DEFAULT_CONCURRENCY, workOf } from "./run-work.js";
import type { SlotRequest } from "./slots.js";
import { type Items, sizeOf, Source } from "./source.js";
import { afterTurn, Turn } from "./turn.js";

/**
 * What `map` and `mapStream` do with their items: it starts them, and puts the results into an outlet. It is driven by
 * reactions to promises that it, or the outlet, has registered itself, never directly by whoever frees a slot or ends a
 * scope: so the source is stepped, and every item started, in the async context of the caller.
 */
export class Fanout<T, R> implements LanesOwner {
  readonly #source: Source<T>;
  readonly #concurrency: number;
  /** The work that waits for this fan-out. */
  readonly #parent: SlotHolder | undefined;
  /** The run, for a fan-out of main: told to stop, that starts no further items. Those of items in flight go on. */
  readonly #mainRun: Run | undefined;
  readonly #place: SlotPlace;
  readonly #scope: Scope;
  readonly #lanes: Lanes<T, R>;
  readonly #outlet: Outlet<R>;
  readonly #count: FanoutCount | undefined;
  #watch: OutsideWatch | undefined;
  #hasParentWait = false;
  /** The item that waits for a slot of the run: at most one is pulled ahead. */
  #held: { readonly item: T; readonly request: SlotRequest } | undefined;
  /** Done, but its slot is not given back yet. */
  #done: Item | undefined;
  readonly #turn = new Turn();
  #isPulling = false;
  #isResting = false;
  /** The first failure, the end of the scope around, or that nobody wants results any more. */
  #end: Failure | undefined;
  #isStopped = false;
  #isOver = false;

  constructor(
    f: (item: T) => R | PromiseLike<R>,
    items: Items<T>,
    concurrency: number | undefined,
    outlet: Outlet<R>,
  ) {
    const frame = currentFrame();
    const run = frame?.run as Run | undefined;
    const parent = frame?.item as SlotHolder | undefined;
    const depth = parent?.depth ?? 0;
    this.#source = new Source(items);
    this.#concurrency = concurrency ?? (run === undefined ? DEFAULT_CONCURRENCY : Infinity);
    this.#parent = parent;
    this.#mainRun = depth === 0 ? run : undefined;
    const work = run === undefined ? undefined : workOf(run);
    this.#count = work?.tally?.fanOut(f, sizeOf(items));
    this.#place = { slots: work?.slots, depth: depth + 1, runScope: run?.scope };
    this.#scope = new Scope(frame?.scope);
    this.#outlet = outlet;
    const itemFrame = deriveFrame(frame, { scope: this.#scope });
    this.#lanes = new Lanes(f, itemFrame, this.#place, this, outlet, this.#count?.items);
    if (frame?.scope === undefined && this.#mainRun === undefined) return;
    this.#watch = new OutsideWatch(this.#scope, this.#mainRun, () => {
      this.advance();
    });
  }

  itemFailed(error: unknown): void {
    this.#fail(error);
  }

  itemDone(item: Item): void {
    // While others are in line for the slot, what comes next here joins the line first: the next item, or the parent
    // after the last one. Else the slot would go to work that is less deep.
    this.#done?.end();
    this.#done = this.#place.slots?.isWanted === true ? item : undefined;
    if (this.#done === undefined) item.end();
    if (this.#turn.isLong()) this.#rest();
  }

  itemSettled(): void {
    this.advance();
  }

  /** Starts what may start now, and ends when nothing is left. Every change of the state leads here. */
  advance(): void {
    while (this.#mayPull()) {
      if (this.#source.isAsync) this.#pullAsync();
      else this.#pull();
    }
    this.#endIfOver();
    this.#done?.end();
    this.#done = undefined;
  }

  #mayPull(): boolean {
    this.#heedOutside();
    if (!this.#isOpen() || this.#isPulling || this.#isResting) return false;
    return this.#held === undefined && this.#lanes.inFlight < this.#concurrency && this.#outlet.hasRoom();
  }

  #isOpen(): boolean {
    return this.#end === undefined && !this.#isStopped && !this.#source.isOver;
  }

  #heedOutside(): void {
    if (this.#end !== undefined) return;
    if (this.#scope.ended) this.#cease(this.#scope.reason);
    else if (this.#outlet.unwanted !== undefined) this.#release(this.#outlet.unwanted, this.#outlet.unwanted);
    else if (!this.#isStopped && this.#mainRun?.stopRequest !== undefined) this.#stop();
  }

  #pull(): void {
    try {
      const step = this.#source.next();
      if (step !== undefined) this.#admit(step.value);
    } catch (error) {
      this.#fail(error);
    }
  }

  #pullAsync(): void {
    this.#isPulling = true;
    this.#source.nextAsync().then(
      (step) => {
        this.#isPulling = false;
        this.#heedOutside();
        if (step !== undefined) this.#admit(step.value);
        this.advance();
      },
      (error: unknown) => {
        this.#isPulling = false;
        this.#fail(error);
        this.advance();
      },
    );
  }

  /** Starts an item, or puts it in line for a slot of the run. Drops it when nothing may start any more. */
  #admit(item: T): void {
    if (!this.#isOpen()) {
      this.#source.close();
      return;
    }
    const { slots, depth } = this.#place;
    if (slots === undefined || slots.tryTake()) {
      this.#beginParentWait();
      this.#lanes.start(item);
      return;
    }
    const request = slots.request(depth, false);
    this.#held = { item, request };
    void request.settled.then(() => {
      this.#startHeld();
    });
    this.#beginParentWait();
  }

  // Only now that the first child has a slot or is in line: else the parent's slot would go to another parent.
  #beginParentWait(): void {
    if (this.#hasParentWait) return;
    this.#hasParentWait = true;
    this.#parent?.beginWait();
  }

  #startHeld(): void {
    this.#heedOutside(); // drops it, and its slot, when nothing may start any more
    const held = this.#held;
    this.#held = undefined;
    if (held !== undefined) this.#lanes.start(held.item);
    this.advance();
  }

  #dropHeld(): boolean {
    if (this.#held === undefined) return false;
    this.#place.slots?.withdraw(this.#held.request);
    this.#held = undefined;
    return true;
  }

  /** Lets the event loop have its turn between results that are there at once. */
  #rest(): void {
    if (this.#isResting) return;
    this.#isResting = true;
    afterTurn(() => {
      this.#isResting = false;
      this.advance();
    });
  }

  /** The first failure ends the waiting of the items in flight, but not what they do. */
  #fail(error: unknown): void {
    if (this.#end !== undefined) return;
    if (this.#scope.ended) {
      this.#cease(this.#scope.reason);
      return;
    }
    const reason = new RunAbortedError(
      "Another item of the fan-out has failed (see cause), so this one waits no longer. Catch errors inside the " +
        "function that map calls if the others shall go on.",
      { cause: error },
    );
    this.#release(error, reason);
  }

  #release(error: unknown, reason: RunAbortedError): void {
    this.#cease(error);
    this.#scope.release(reason);
  }

  #cease(error: unknown): void {
    this.#end = { error };
    this.#dropHeld();
    this.#source.close();
  }

  /** Starts nothing any more, but looks one step ahead: whether there is anything that has not been started. */
  #stop(): void {
    this.#isStopped = true;
    if (this.#dropHeld()) this.#source.close();
    else if (this.#isPulling || this.#source.isOver) return;
    else if (this.#source.isAsync) this.#pullAsync();
    else this.#pull();
  }

  #endIfOver(): void {
    if (this.#isOver || this.#lanes.inFlight > 0 || this.#held !== undefined || this.#isOpen()) return;
    this.#isOver = true;
    this.#source.close();
    this.#turn.end();
    this.#watch?.stop();
    this.#scope.leave();
    this.#count?.end(this.#lanes.started);
    const conclude = (): void => {
      if (this.#end === undefined && !this.#source.isExhausted)
        this.#end = { error: this.#mainRun?.stopRequest?.reason };
      this.#outlet.end(this.#end);
    };
    const parentIsBack = this.#hasParentWait ? this.#parent?.endWait() : undefined;
    if (parentIsBack === undefined) conclude();
    else void parentIsBack.then(conclude);
  }
}
