import type { MountStep } from "../../context/index.js";
import type { SlotHolder } from "../run/item.js";

/** A job that mounts its own successor has a way without an end. */
const MOST_STEPS = 32;

/** An item that was mounted: the item that holds its slot, with a step of its own in the path of failures. */
export class MountedItem implements SlotHolder {
  readonly path: readonly MountStep[];
  readonly #item: SlotHolder;

  constructor(item: SlotHolder, step: MountStep) {
    this.#item = item;
    this.path = [...item.path.slice(1 - MOST_STEPS), step];
  }

  get depth(): number {
    return this.#item.depth;
  }

  beginWait(): void {
    this.#item.beginWait();
  }

  endWait(): Promise<void> | undefined {
    return this.#item.endWait();
  }
}
