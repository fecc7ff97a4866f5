// One process that has a limiter to itself, and never has to wait for tokens: the time of a call, beside that of a script
// that does nothing, and how many calls a second are done when 64 come at once.
import { connect } from "../peers/faults/redis.mjs";
import { median } from "../support/statistics.mjs";
import { driverOf } from "./contestants.mjs";

const { contestant, port } = JSON.parse(process.argv[2]);

/** Enough for all calls that are made here. */
const RATE = 1_000_000;
const WARM_UP = 20;
const BLOCKS = 12;
const BLOCK = 100;
const AT_ONCE = 64;
const FOR_MS = 1_500;

const driver = await driverOf(contestant);
const acquire = await driver.create({ port, rate: RATE, burst: RATE, waits: false });
const client = connect(port);
const sha = await client.script("LOAD", "return 1");
const bare = () => client.evalsha(sha, 0);

async function medianMs(call) {
  const took = [];
  for (let count = 0; count < BLOCK; count += 1) {
    const sentAt = performance.now();
    await call();
    took.push(performance.now() - sentAt);
  }
  return median(took);
}

// The first ones only warm up. Then they take turns, so that a slow phase of the machine hits both.
for (let block = 0; block < WARM_UP; block += 1) {
  await medianMs(acquire);
  await medianMs(bare);
}
const ratios = [];
const ours = [];
for (let block = 0; block < BLOCKS; block += 1) {
  const one = await medianMs(acquire);
  ours.push(one);
  ratios.push(one / (await medianMs(bare)));
}

let done = 0;
const startedAt = performance.now();
while (performance.now() - startedAt < FOR_MS) {
  await Promise.all(Array.from({ length: AT_ONCE }, () => acquire()));
  done += AT_ONCE;
}
const perSecond = (done * 1000) / (performance.now() - startedAt);

const result = { ms: median(ours), ratio: median(ratios), perSecond };
process.stdout.write(JSON.stringify(result), () => process.exit());
