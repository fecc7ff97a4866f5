import type { Scope, ScopeListener } from "../../cancellation/index.js";
import type { MountStep } from "../../context/index.js";
import type { SlotRequest, Slots } from "./slots.js";

/**
 * What a frame knows of the work it belongs to. Other copies of the package call it too, so it is used through this
 * interface only.
 */
export interface SlotHolder {
  /** How many fan-outs are around it: 0 for a call made by main. */
  readonly depth: number;
  /** What was mounted on the way to it, from the run down. */
  readonly path: readonly MountStep[];
  /** It starts to wait for children: its slots are free for others. Call it when the first child is in line already. */
  beginWait(): void;
  /**
   * Ends one wait. After the last one the slots are taken again.
   *
   * @returns When the slots are back; undefined when nothing is to be waited for.
   */
  endWait(): Promise<void> | undefined;
}

/** Where a holder takes its slots; all items of one fan-out share it. */
export interface SlotPlace {
  /** Undefined where nothing bounds the work: outside a run. */
  readonly slots: Slots | undefined;
  readonly depth: number;
  /** The run; once it has ended, nobody waits for a slot any more. */
  readonly runScope: Scope | undefined;
  /** The way to the fan-out, through what was mounted. The path, not who is there: else a chain of mounts keeps all. */
  readonly path?: readonly MountStep[] | undefined;
}

/** An item of a fan-out, or a call of a function with a limit of its own. It is made with its slot in hand. */
export class Item implements SlotHolder, ScopeListener {
  readonly #place: SlotPlace;
  /** The work that this call is a part of, which waits when it waits. */
  readonly #outer: SlotHolder | undefined;
  #hasSlot: boolean;
  #isOver = false;
  #waits = 0;
  /** Set while it waits to get its slot back. */
  #request: SlotRequest | undefined;

  constructor(place: SlotPlace, outer?: SlotHolder) {
    this.#place = place;
    this.#outer = outer;
    this.#hasSlot = place.slots !== undefined;
  }

  get depth(): number {
    return this.#place.depth;
  }

  get path(): readonly MountStep[] {
    return this.#outer?.path ?? this.#place.path ?? [];
  }

  beginWait(): void {
    this.#waits += 1;
    this.#letGo();
    this.#outer?.beginWait();
  }

  endWait(): Promise<void> | undefined {
    // From the outside inwards, so that nobody holds an inner slot while it waits for an outer one.
    const outer = this.#outer?.endWait();
    return outer === undefined ? this.#resume() : outer.then(() => this.#resume());
  }

  /** The work is done. Waits that still go on belong to code that nobody awaits; they get no slot any more. */
  end(): void {
    this.#isOver = true;
    this.#letGo();
  }

  scopeEnded(): void {
    if (this.#request !== undefined) this.#place.slots?.withdraw(this.#request);
  }

  #resume(): Promise<void> | undefined {
    this.#waits -= 1;
    const { slots, depth, runScope } = this.#place;
    if (this.#waits > 0 || this.#isOver || slots === undefined) return undefined;
    if (slots.tryTake()) {
      this.#hasSlot = true;
      return undefined;
    }
    if (runScope?.ended === true) return undefined;
    const request = slots.request(depth, true);
    this.#request = request;
    runScope?.add(this);
    return request.settled.then(() => {
      if (this.#request !== request) return; // let go of meanwhile
      this.#forgetRequest();
      this.#hasSlot = request.granted;
    });
  }

  #letGo(): void {
    const slots = this.#place.slots;
    if (this.#request !== undefined) {
      slots?.withdraw(this.#request);
      this.#forgetRequest();
    }
    if (!this.#hasSlot) return;
    this.#hasSlot = false;
    slots?.release();
  }

  #forgetRequest(): void {
    this.#request = undefined;
    this.#place.runScope?.remove(this);
  }
}
