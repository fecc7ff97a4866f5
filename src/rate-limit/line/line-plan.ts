import type { Clock } from "../../clock.js";
import type { Meter } from "./meter.js";

/** What a line is made of. `C` is what a call asks for, `R` what it gets with its tokens. */
export interface LinePlan<C, R> {
  readonly name: string;
  readonly clock: Clock;
  readonly maxQueue: number;
  readonly meter: Meter<C>;
  /**
   * Makes what a call gets with its tokens; without it a call gets the tokens alone. It is made here, and not by a
   * `then` of the caller: of a promise in between nobody would mark a rejection as handled.
   */
  readonly receipt?: ((cost: C) => R) | undefined;
}
