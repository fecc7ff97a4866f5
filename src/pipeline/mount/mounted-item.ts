import type { MountStep } from "../../context/index.js";
import type { SlotHolder } from "../run/item.js";

/** An item that was mounted: the item that holds its slot, with a step of its own in the path of failures. */
export class MountedItem implements SlotHolder {
  readonly #item: SlotHolder;
  readonly #step: MountStep;

  constructor(item: SlotHolder, step: MountStep) {
    this.#item = item;
    this.#step = step;
  }

  get depth(): number {
    return this.#item.depth;
  }

  get path(): readonly MountStep[] {
    return [...this.#item.path, this.#step];
  }

  beginWait(): void {
    this.#item.beginWait();
  }

  endWait(): Promise<void> | undefined {
    return this.#item.endWait();
  }
}
