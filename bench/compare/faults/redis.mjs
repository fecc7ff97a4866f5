/** Limiters whose state is in a Redis server: how often they call it, where their keys are, what they need of it. */
import { scriptsRun } from "../../support/script-calls.mjs";
import { short, startsOf } from "../support/jobs.mjs";

const JOBS = 100;
/** 200 a second: half a second for all jobs. */
const SPEED = { limit: 10, windowMs: 50 };

const OURS = {
  library: "tidegate",
  module: "redis",
  make: "overRedis",
  setting: "RedisRateLimiter, ioredis",
};

/** Runs two jobs. The server may refuse with an error of that code; anything else that goes wrong is no finding. */
async function refusalOf(make, redisPort, code) {
  try {
    await startsOf(await make({ ...SPEED, redisPort }), 2);
    return { refusal: null };
  } catch (error) {
    const refusal = innermost(error).message;
    if (!refusal.startsWith(code)) throw error;
    return { refusal };
  }
}

/** The server's own error in those of the libraries around it. */
function innermost(error) {
  const inner = error.cause ?? error.reason;
  return inner === undefined ? error : innermost(inner);
}

const refused = {
  seen: ({ refusal }) => refusal !== null,
  figure: ({ refusal }) => refusal ?? "two jobs ran",
};

export const faults = [
  {
    name: "Redis: several scripts per job",
    redis: "stock",
    contestants: [{ library: "bottleneck", make: "overRedis", setting: "minTime, ioredis" }, OURS],
    async probe(make, { redisPort }) {
      const runner = await make({ ...SPEED, redisPort });
      // Here and not above: the list of faults is read before the peers are installed.
      const { connect } = await import("../../peers/faults/redis.mjs");
      const client = connect(redisPort);
      const before = await scriptsRun(client);
      await startsOf(runner, JOBS);
      return { perJob: ((await scriptsRun(client)) - before) / JOBS };
    },
    // A tenth above one: a retry now and then is not the fault.
    seen: ({ perJob }) => perJob > 1.1,
    figure: ({ perJob }) => `${short(perJob, 2)} scripts per job`,
  },
  {
    name: "Redis: the keys of one limiter in two slots",
    redis: "cluster",
    contestants: [{ library: "effect", make: "overRedis", setting: "token bucket" }, OURS],
    probe: (make, { redisPort }) => refusalOf(make, redisPort, "CROSSSLOT"),
    ...refused,
  },
  {
    name: "Redis: breaks on a stock server",
    redis: "stock",
    contestants: [
      { library: "@upstash/ratelimit", module: "upstash", make: "overRedis", setting: "token bucket" },
      OURS,
    ],
    probe: (make, { redisPort }) => refusalOf(make, redisPort, "ERR"),
    ...refused,
  },
];
