import { useContext, useSignal } from "../../src/index.js";
import { TAG } from "./generation.js";
import { inBody, Meter, type Place, type RunWatch } from "./place.js";
import type { Stage } from "./stage.js";

/** The main function of a run: gives `body` its place, with slots of its own. */
export function mainOf(
  stage: Stage,
  concurrency: number,
  body: (place: Place) => Promise<void>,
  watch?: (run: RunWatch) => void,
): Promise<void> {
  const run: RunWatch = {
    slots: new Meter(stage, "items of one run", concurrency),
    signal: useSignal(),
    bodies: 0,
  };
  watch?.(run);
  const place = { run, tag: useContext(TAG), holder: undefined };
  return inBody(stage, "main", place, () => body(place));
}
