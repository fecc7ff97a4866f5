import { Scope } from "../../cancellation/index.js";
import { currentFrame, deriveFrame } from "../../context/index.js";
import type { Run } from "../../lifespan/index.js";
import { type RunAbortedError, siblingFailed } from "../errors.js";
import type { Item, SlotPlace } from "../run/item.js";
import { Lanes, type LanesOwner } from "./lanes.js";
import type { Failure, Outlet } from "./outlet.js";
import { OutsideWatch } from "./outside.js";
import type { FanoutCount } from "../run/run-tally.js";
import { DEFAULT_CONCURRENCY, workOf } from "../run/run-work.js";
import { SlotWait } from "../run/slot-wait.js";
import type { SlotRequest } from "../run/slots.js";
import type { Source } from "./source.js";
import { Turn } from "./turn.js";

/**
 * What `map` and its kin do with their items: it starts them, and puts the results into an outlet. It is driven by
 * reactions to promises that it, or the outlet, has registered itself, never directly by whoever frees a slot or ends a
 * scope: so the source is stepped, and every item started, in the async context of the caller.
 */
export class Fanout<T, R> implements LanesOwner {
  readonly #source: Source<T>;
  readonly #concurrency: number;
  readonly #parentWait = new SlotWait();
  /** The run, for a fan-out of main: told to stop, that starts no further items. Those of items in flight go on. */
  readonly #mainRun: Run | undefined;
  readonly #place: SlotPlace;
  readonly #scope: Scope;
  readonly #lanes: Lanes<T, R>;
  readonly #outlet: Outlet<R>;
  readonly #count: FanoutCount | undefined;
  #watch: OutsideWatch | undefined;
  /** The item that waits for a slot of the run, or for one in flight to end: at most one is pulled ahead. */
  #held: { readonly item: T; readonly request: SlotRequest | undefined } | undefined;
  /** Done, but its slot is not given back yet. */
  #done: Item | undefined;
  readonly #turn = new Turn();
  #isPulling = false;
  /** The first failure, the end of the scope around, or that nobody wants results any more. */
  #end: Failure | undefined;
  #isStopped = false;
  #hasStartedAll = false;
  #isOver = false;

  constructor(
    f: (item: T) => R | PromiseLike<R>,
    source: Source<T>,
    concurrency: number | undefined,
    outlet: Outlet<R>,
    count: FanoutCount | undefined,
  ) {
    const frame = currentFrame();
    const run = frame?.run as Run | undefined;
    const parent = this.#parentWait.holder;
    const depth = parent?.depth ?? 0;
    this.#source = source;
    this.#concurrency = concurrency ?? (run === undefined ? DEFAULT_CONCURRENCY : Infinity);
    this.#mainRun = depth === 0 ? run : undefined;
    const slots = run === undefined ? undefined : workOf(run).slots;
    this.#place = { slots, depth: depth + 1, runScope: run?.scope, path: parent?.path };
    this.#scope = new Scope(frame?.scope);
    this.#outlet = outlet;
    this.#count = count;
    const itemFrame = deriveFrame(frame, { scope: this.#scope });
    this.#lanes = new Lanes(f, itemFrame, this.#place, this, outlet, count?.items);
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
    if (this.#turn.isLong()) this.#turn.rest(this);
  }

  itemSettled(): void {
    this.advance();
  }

  /** Starts what may start now, and ends when nothing is left. Every change of the state leads here. */
  advance(): void {
    this.#startHeld();
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
    if (!this.#isOpen() || this.#isPulling || this.#turn.isResting) return false;
    if (this.#held !== undefined || !this.#outlet.hasRoom()) return false;
    // One ahead, where somebody waits for the starts: else it would learn that the last one was the last too late.
    return this.#hasLane() || this.#outlet.allStarted !== undefined;
  }

  #hasLane(): boolean {
    return this.#lanes.inFlight < this.#concurrency;
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

  /** Takes an item that was pulled. Drops it when nothing may start any more. */
  #admit(item: T): void {
    if (!this.#isOpen()) this.#source.close();
    else if (this.#hasLane()) this.#startOrLine(item);
    else this.#held = { item, request: undefined };
  }

  /** Starts an item, or puts it in line for a slot of the run. */
  #startOrLine(item: T): void {
    const { slots, depth } = this.#place;
    // The parent waits only when its first child has a slot or is in line: else its slot would go to another parent.
    if (slots === undefined || slots.tryTake()) {
      this.#parentWait.begin();
      this.#lanes.start(item);
      return;
    }
    const request = slots.request(depth, false);
    this.#held = { item, request };
    void request.settled.then(() => {
      this.advance();
    });
    this.#parentWait.begin();
  }

  #startHeld(): void {
    this.#heedOutside(); // drops it, and its slot, when nothing may start any more
    if (this.#held === undefined) return;
    const { item, request } = this.#held;
    if (request === undefined ? !this.#hasLane() : !request.granted) return;
    this.#held = undefined;
    if (request === undefined) this.#startOrLine(item);
    else this.#lanes.start(item);
  }

  #dropHeld(): boolean {
    if (this.#held === undefined) return false;
    if (this.#held.request !== undefined) this.#place.slots?.withdraw(this.#held.request);
    this.#held = undefined;
    return true;
  }

  /** The first failure ends the waiting of the items in flight, but not what they do. */
  #fail(error: unknown): void {
    if (this.#end !== undefined) return;
    if (this.#scope.ended) {
      this.#cease(this.#scope.reason);
      return;
    }
    this.#release(error, siblingFailed(error));
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
    if (this.#isOver || this.#held !== undefined || this.#isOpen()) return;
    if (this.#outlet.allStarted !== undefined && !this.#hasStartedAll) {
      this.#hasStartedAll = true;
      this.#leave(() => this.#outlet.allStarted?.(this.#failure()));
    }
    if (this.#lanes.inFlight > 0) return;
    this.#isOver = true;
    this.#turn.end();
    this.#count?.end(this.#lanes.started);
    this.#leave(() => {
      this.#outlet.end(this.#failure());
    });
  }

  /** Lets go of the source and of all that is around, then calls `conclude`. */
  #leave(conclude: () => void): void {
    this.#source.close();
    this.#watch?.stop();
    this.#scope.leave();
    this.#parentWait.end(conclude);
  }

  #failure(): Failure | undefined {
    if (this.#end !== undefined || this.#source.isExhausted) return this.#end;
    return { error: this.#mainRun?.stopRequest?.reason };
  }
}
