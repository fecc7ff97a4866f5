// One backlog in one library: when each of its callers was granted, in milliseconds from the first, printed as JSON. A single
// call goes before, a while earlier, as one does in every real program: windows of a fixed length begin with it.
import { setTimeout as pass } from "node:timers/promises";

const [file, settings] = process.argv.slice(2);
const { rate, burst, callers, afterMs } = JSON.parse(settings);
const { default: adapter } = await import(file);

const times = [];
const note = () => {
  times.push(performance.now());
};
// A library that runs tasks notes it in the task, one that gives permits when it has given one.
const isTask = adapter.grants === "tasks";
const call = await adapter.create({ rate, burst, waits: true }, async () => {
  if (isTask) note();
});
await call();
await pass(afterMs);
times.length = 0;
await Promise.all(
  Array.from({ length: callers }, async () => {
    await call();
    if (!isTask) note();
  }),
);
const [first] = times;
process.stdout.write(JSON.stringify(times.map((time) => time - first)), () => process.exit());
