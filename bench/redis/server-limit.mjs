/** Where one server ends: what a request costs it, by how many processes stand in the line of a limiter. */
import { connect } from "../peers/faults/redis.mjs";
import { withRedis } from "../support/redis-server.mjs";
import { RedisRateLimiter } from "tidegate/redis";

const REQUESTS = 3_000;
/** Requests on their way at any time: the server is never idle. */
const AT_ONCE = 16;
/** A process in whose line callers always wait asks again each time that a chunk is used: 50 ms of the rate. */
const CALLS_PER_PROCESS = 20;

const CASES = [
  { what: "one limiter, 1 process", processes: 1, limiters: 1 },
  { what: "one limiter, 16 processes", processes: 16, limiters: 1 },
  { what: "one limiter, 100 processes", processes: 100, limiters: 1 },
  { what: "one limiter, 400 processes", processes: 400, limiters: 1 },
  { what: "1,000 limiters, 4 processes each", processes: 4, limiters: 1_000 },
];

export async function measureServer() {
  const rows = [];
  for (const { what, processes, limiters } of CASES) {
    const micros = await withRedis("stock", (port) => microsOf(port, processes, limiters));
    rows.push({ what, micros, callsPerProcess: CALLS_PER_PROCESS });
  }
  return rows;
}

/** Microseconds of the server's processor time for a request, of which as many stand in line as there are processes. */
async function microsOf(port, processes, limiters) {
  const client = connect(port);
  const sha = await client.script("LOAD", await scriptText());
  // So slow that none is ever due: the line stays as long as it is.
  const ask = (name) => client.evalsha(sha, 1, `tidegate:{${name}}`, "reserve", "1", "0.000001", "0", "1");
  const give = (name, epoch, id) =>
    client.evalsha(sha, 1, `tidegate:{${name}}`, "give", "1", "0.000001", "0", epoch, id, "1");
  const names = Array.from({ length: limiters }, (_, index) => String(index));
  for (const name of names) for (let index = 0; index < processes; index += 1) await ask(name);
  const before = await cpuSecs(client);
  let sent = 0;
  const lane = async () => {
    while (sent < REQUESTS) {
      const name = names[sent % limiters];
      sent += 2;
      const [epoch, , , , , id] = await ask(name);
      await give(name, epoch, id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const micros = (((await cpuSecs(client)) - before) * 1e6) / sent;
  client.disconnect();
  return micros;
}

/** The script that a limiter sends to a server that does not know it. */
function scriptText() {
  return new Promise((resolve) => {
    const client = ([command, script]) => {
      if (command === "EVALSHA") return Promise.reject(new Error("NOSCRIPT"));
      resolve(script);
      return Promise.reject(new Error("only the script was wanted"));
    };
    const limiter = new RedisRateLimiter({
      client,
      name: "bench",
      maxRowsPerSecond: 1,
      onStoreError: "throw",
    });
    limiter.acquire().catch(() => undefined);
  });
}

async function cpuSecs(client) {
  const usage = (await client.info("cpu")).matchAll(/^used_cpu_(?:sys|user):([\d.]+)/gm);
  return [...usage].reduce((sum, [, secs]) => sum + Number(secs), 0);
}
