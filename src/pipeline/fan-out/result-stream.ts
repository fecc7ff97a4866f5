/// <reference lib="esnext.disposable" preserve="true" />
import type { Scope } from "../../cancellation/index.js";
import { currentFrame, deriveFrame, type Frame, type MountStep, runInFrame } from "../../context/index.js";
import { Queue, QueueNode } from "../../internal/queue.js";
import type { Run } from "../../lifespan/index.js";
import { RunAbortedError } from "../errors.js";
import { Fanout } from "./fan-out.js";
import type { SlotHolder } from "../run/item.js";
import type { Failure, Outlet } from "./outlet.js";
import { ResultBuffer } from "./result-buffer.js";
import { DEFAULT_CONCURRENCY, workOf } from "../run/run-work.js";
import { SlotWait } from "../run/slot-wait.js";

type Step<R> = IteratorResult<R, void>;

/** One call of `next`, or of what leaves the stream, that has no answer yet. */
class Request<R> extends QueueNode {
  /** That of the work that waits for the answer. */
  readonly slotWait = new SlotWait();
  readonly #resolve: (step: Step<R>) => void;
  readonly #reject: (error: unknown) => void;

  constructor(resolve: (step: Step<R>) => void, reject: (error: unknown) => void) {
    super();
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Settles the call, once who waits has its slot back. */
  answer(answer: Step<R> | Failure): void {
    this.slotWait.end(() => {
      if ("error" in answer) this.#reject(answer.error);
      else this.#resolve(answer);
    });
  }
}

/** What a stream makes of its items and how many at once. */
export interface StreamPlan<T, R> {
  readonly isOrdered: boolean;
  readonly concurrency: number | undefined;
  readonly begin: (outlet: Outlet<R>) => Fanout<T, R>;
}

/**
 * One call of `mapStream`. To its fan-out it is the outlet, and also the work that waits for it: the fan-out and the
 * source run in a frame of which the stream is the item. So it hears when they wait for slots, and passes that on to
 * those who wait in `next` at the time. The code that made the stream may be at work then, and keeps its slot.
 */
export class ResultStream<T, R> implements AsyncGenerator<R, void, void>, Outlet<R>, SlotHolder {
  unwanted: RunAbortedError | undefined;
  readonly #begin: (outlet: Outlet<R>) => Fanout<T, R>;
  readonly #buffer: ResultBuffer<R>;
  /** No item starts while so many results wait. */
  readonly #room: number;
  readonly #requests = new Queue<Request<R>>();
  readonly #holder: SlotHolder | undefined;
  readonly #scopeAround: Scope | undefined;
  #fanout: Fanout<T, R> | undefined;
  #wake!: () => void;
  /** Items, or the source, have wanted slots: from now on who waits gives up its own. */
  #wantsSlots = false;
  /** The fan-out has ended, or will never begin. */
  #isOver = false;
  #failure: Failure | undefined;
  /** The last answer has been given. */
  #isDone = false;

  constructor(plan: StreamPlan<T, R>) {
    const frame = currentFrame();
    this.#holder = frame?.item as SlotHolder | undefined;
    this.#begin = plan.begin;
    this.#buffer = new ResultBuffer(plan.isOrdered);
    this.#room = roomFor(plan.concurrency, frame);
    this.#scopeAround = frame?.scope;
    runInFrame(deriveFrame(frame, { item: this }), () => {
      this.#listen();
    });
  }

  get depth(): number {
    return this.#holder?.depth ?? 0;
  }

  get path(): readonly MountStep[] {
    return this.#holder?.path ?? [];
  }

  next(): Promise<Step<R>> {
    return new Promise((resolve, reject) => {
      this.#requests.push(new Request(resolve, reject));
      this.#serve();
      if (!this.#isOver) this.#wake();
    });
  }

  async return(value: void | PromiseLike<void>): Promise<Step<R>> {
    await this.#leave();
    await value;
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<Step<R>> {
    await this.#leave();
    throw error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  reserve(): number {
    return this.#buffer.reserve();
  }

  put(place: number, result: R): void {
    this.#buffer.put(place, result);
    this.#serve();
  }

  hasRoom(): boolean {
    return this.#buffer.size < this.#room;
  }

  end(failure: Failure | undefined): void {
    this.#isOver = true;
    this.#failure = failure;
    this.#fanout = undefined;
    this.#serve();
  }

  beginWait(): void {
    this.#wantsSlots = true;
    for (const request of this.#requests) request.slotWait.begin();
  }

  endWait(): undefined {
    return undefined;
  }

  #leave(): Promise<unknown> {
    this.unwanted ??= new RunAbortedError(
      "The stream that this item belongs to has been left before its end, so the item waits no longer.",
    );
    if (this.#fanout === undefined) this.#isOver = true;
    return this.next();
  }

  // Whoever wants something of the fan-out wakes it, and it goes on in a reaction of the code that made the stream:
  // so the source is stepped, and every item started, in the async context of that code. Each reaction registers the
  // one after it. While nobody wakes it, nothing refers to it, and a stream that is dropped is gone.
  #listen(): void {
    void new Promise<void>((resolve) => {
      this.#wake = resolve;
    }).then(() => {
      this.#listen();
      this.#advance();
    });
  }

  #advance(): void {
    if (this.#isOver) return;
    try {
      this.#fanout ??= this.#begin(this);
    } catch (error) {
      this.end({ error });
      return;
    }
    this.#fanout.advance();
    // Only now that items may be in line: else the slot would go to work that is less deep.
    if (this.#wantsSlots) this.beginWait();
  }

  /** Gives what is there to those who wait. */
  #serve(): void {
    for (const request of this.#requests.drain()) {
      const answer = this.#nextAnswer();
      if (answer === undefined) return;
      this.#requests.remove(request);
      request.answer(answer);
    }
  }

  #nextAnswer(): Step<R> | Failure | undefined {
    if (this.#isDone) return { done: true, value: undefined };
    const isCut = this.#scopeAround?.ended === true;
    if (isCut || this.unwanted !== undefined) this.#buffer.clear();
    if (this.#buffer.isReady) return { done: false, value: this.#buffer.take() };
    if (!this.#isOver) return undefined;
    this.#isDone = true;
    this.#buffer.clear(); // of items behind one that has failed
    if (this.unwanted !== undefined) return { done: true, value: undefined };
    if (isCut) return { error: this.#scopeAround.reason };
    return this.#failure ?? { done: true, value: undefined };
  }
}

/** As many as may be in flight. Where nothing bounds those, something has to bound the results. */
function roomFor(concurrency: number | undefined, frame: Frame | undefined): number {
  const run = frame?.run as Run | undefined;
  const limits = [concurrency, run === undefined ? undefined : workOf(run).slots.limit];
  return limits.find((limit) => limit !== undefined && limit < Infinity) ?? DEFAULT_CONCURRENCY;
}
