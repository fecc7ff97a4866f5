import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes on the heap that are still in use. */
export async function heapInUse(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    collectGarbage();
    // What a settled promise holds goes a turn of the loop later.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}
