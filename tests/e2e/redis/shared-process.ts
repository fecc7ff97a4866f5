// A process that draws from a shared limiter until it is told to stop. Run by processes.test.ts.
import { Redis } from "ioredis";
import { RedisRateLimiter, type RedisRateLimiterOptions } from "../../../src/redis/index.js";

const WAITERS = 16;

const { port, ...options } = JSON.parse(process.argv[2] ?? "{}") as {
  readonly port: number;
} & Omit<RedisRateLimiterOptions, "client">;
const client = new Redis(port, "127.0.0.1", { autoResendUnfulfilledCommands: false });
const limiter = new RedisRateLimiter({ client, ...options });

async function draw(): Promise<void> {
  for (;;) {
    await limiter.acquire();
    // One clock for all processes of a machine, which is not set back and forth.
    process.send?.(performance.timeOrigin + performance.now());
  }
}

process.once("message", () => {
  for (let waiter = 0; waiter < WAITERS; waiter += 1) void draw();
});
// Who has started it is gone.
process.once("disconnect", () => process.exit());
process.send?.("ready");
