import { type Run, simulate } from "./simulate.js";
import type { Settings } from "./settings.js";

/** Milliseconds for which a run may keep the page waiting. */
const PATIENCE = 12;

/** Runs simulations one after the other: a new one ends the one before, and the page stays awake meanwhile. */
export class LatestRun {
  #number = 0;

  /** The run of these settings; undefined when another one was asked for, or `stop()` called, before its end. */
  async of(settings: Settings): Promise<Run | undefined> {
    this.#number += 1;
    const number = this.#number;
    const outdated = new Error("outdated");
    let since = performance.now();
    const breathe = async (): Promise<void> => {
      if (performance.now() - since < PATIENCE) return;
      await new Promise((resolve) => setTimeout(resolve));
      since = performance.now();
      if (this.#number !== number) throw outdated;
    };
    try {
      const run = await simulate(settings, breathe);
      return this.#number === number ? run : undefined;
    } catch (error) {
      if (error === outdated) return undefined;
      throw error;
    }
  }

  stop(): void {
    this.#number += 1;
  }
}
