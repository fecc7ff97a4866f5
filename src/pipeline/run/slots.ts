import { Queue, QueueNode } from "../../internal/queue.js";

/** One wish for a slot. It is over when `settled` resolves; whether it has a slot then stands in `granted`. */
export class SlotRequest extends QueueNode {
  readonly rank: number;
  granted = false;
  /** Resolves in the async context of who waits for it, so queued work never goes on in the context of another. */
  readonly settled: Promise<void>;
  settle!: () => void;

  constructor(rank: number) {
    super();
    this.rank = rank;
    this.settled = new Promise((resolve) => {
      this.settle = resolve;
    });
  }
}

/**
 * A number of slots and a line for them. The deepest request goes first; on one depth a parent that wants its slot
 * back goes before work that starts; then first come, first served. So what was begun is ended before more is begun.
 *
 * A freed slot belongs to the first in line in the same turn: nobody who comes in between can take it.
 */
export class Slots {
  readonly limit: number;
  #free: number;
  /** By rank, which grows with the depth; nothing above the last line is waited for. */
  readonly #lines: (Queue<SlotRequest> | undefined)[] = [];
  #waiting = 0;

  /** @param limit - Slots in all: an integer from 1 up, or Infinity. */
  constructor(limit: number) {
    this.limit = limit;
    this.#free = limit;
  }

  /** Whether anyone is in line. */
  get isWanted(): boolean {
    return this.#waiting > 0;
  }

  /** Takes a slot when one is free. None is while anyone waits. */
  tryTake(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Joins the line. Only after `tryTake` has failed. */
  request(depth: number, isReturning: boolean): SlotRequest {
    const request = new SlotRequest(2 * depth + (isReturning ? 1 : 0));
    (this.#lines[request.rank] ??= new Queue()).push(request);
    this.#waiting += 1;
    return request;
  }

  /** Ends a request that is not wanted any more, be it in line or just granted. */
  withdraw(request: SlotRequest): void {
    if (request.granted) {
      request.granted = false;
      this.release();
      return;
    }
    this.#leaveLine(request);
    request.settle();
  }

  /** Gives one slot back: to the first in line, if there is one. */
  release(): void {
    const first = this.#takeFirst();
    if (first === undefined) {
      this.#free += 1;
      return;
    }
    first.granted = true;
    first.settle();
  }

  #takeFirst(): SlotRequest | undefined {
    const lines = this.#lines;
    while (lines.length > 0) {
      const line = lines[lines.length - 1];
      const first = line?.head;
      if (first !== undefined) {
        this.#leaveLine(first);
        return first;
      }
      lines.pop();
    }
    return undefined;
  }

  #leaveLine(request: SlotRequest): void {
    if (request.next === undefined) return;
    this.#lines[request.rank]?.remove(request);
    this.#waiting -= 1;
  }
}
