import { currentFrame } from "../../context/index.js";
import type { FanoutCount } from "../run/run-tally.js";
import { tallyOf } from "../run/run-work.js";
import { type Items, sizeOf } from "./source.js";

/** How the run of the calling code counts a fan-out of `f`, if it counts anything. */
export function countFanOut(f: { readonly name: string }, items: Items<unknown>): FanoutCount | undefined {
  return tallyOf(currentFrame()?.run)?.fanOut(f, sizeOf(items));
}
