// One of the processes that share a rate: says when it is ready, starts at the time that it is told, on the clock that all
// processes of the machine have in common, and says what was granted when.
import { cpuMs } from "../support/cpu-time.mjs";
import { driverOf } from "./contestants.mjs";

const { contestant, waiters, forMs, ...input } = JSON.parse(process.argv[2]);
const now = () => performance.timeOrigin + performance.now();

const driver = await driverOf(contestant);
const acquire = await driver.create({ ...input, waits: true });
process.send("ready");

process.once("message", (startAt) => {
  setTimeout(() => void run(startAt), startAt - now());
});

async function run(startAt) {
  const usedBefore = cpuMs();
  const endAt = startAt + forMs;
  const times = [];
  const waits = [];
  const wait = async () => {
    for (;;) {
      const askedAt = now();
      await acquire();
      const grantedAt = now();
      if (grantedAt > endAt) return;
      times.push(grantedAt);
      waits.push(grantedAt - askedAt);
    }
  };
  for (let waiter = 0; waiter < waiters; waiter += 1) {
    wait().catch((error) => {
      // A waiter that is lost would look like a slow limiter.
      console.error(error);
      process.exit(1);
    });
  }
  setTimeout(() => {
    process.send({ times, waits, cpuMs: cpuMs() - usedBefore }, () => process.exit());
  }, endAt - now());
}
