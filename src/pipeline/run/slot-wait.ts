import { currentFrame } from "../../context/index.js";
import type { SlotHolder } from "./item.js";

/** The wait of the calling code for work of others, during which its slot is free for them. */
export class SlotWait {
  /** The work that waits; undefined for main, and outside. */
  readonly holder = currentFrame()?.item as SlotHolder | undefined;
  #hasBegun = false;

  /** Gives the slot up. Again, it does nothing. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.holder?.beginWait();
  }

  /** Ends the wait, if it has begun. Calls `goOn` once the slot is back, at once when it is. */
  end(goOn: () => void): void {
    const isBack = this.#hasBegun ? this.holder?.endWait() : undefined;
    this.#hasBegun = false;
    if (isBack === undefined) goOn();
    else void isBack.then(goOn);
  }
}
