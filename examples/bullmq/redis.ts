import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { createInterface } from "node:readline";
import { listen } from "../support/listen.js";

const PROGRAM = process.env["REDIS_SERVER"] ?? "redis-server";

/** A Redis server of this program alone; it keeps nothing. Disposed of, it is killed. */
export interface PrivateRedis extends AsyncDisposable {
  /** On 127.0.0.1. */
  readonly port: number;
}

/** Where there is no redis-server: says how to get one, and exits with 1. */
export function requireRedisServer(): void {
  if (spawnSync(PROGRAM, ["--version"]).status === 0) return;
  console.error(
    `No redis-server at "${PROGRAM}". Install it (apt-get install redis-server, brew install redis), or set ` +
      "REDIS_SERVER to its path.",
  );
  process.exit(1);
}

/** @throws Error when it ends before it is ready. */
export async function startRedis(): Promise<PrivateRedis> {
  const port = await freePort();
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  // In a group of its own: Ctrl-C is for this program, which needs the server until its workers have ended.
  const server = spawn(PROGRAM, args, {
    cwd: tmpdir(),
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const kill = (): void => void server.kill("SIGKILL");
  process.once("exit", kill); // when this program is made to exit at once
  const ended = once(server, "exit").finally(() => process.off("exit", kill));
  const ready = new Promise<void>((resolve) => {
    createInterface(server.stdout).on("line", (line) => {
      if (line.includes("Ready to accept connections")) resolve();
    });
  });
  const failed = ended.then(() => Promise.reject(new Error(`${PROGRAM} has ended before it was ready.`)));
  await Promise.race([ready, failed]);
  return {
    port,
    async [Symbol.asyncDispose]() {
      kill();
      await ended;
    },
  };
}

async function freePort(): Promise<number> {
  await using listening = await listen(() => undefined);
  return Number(new URL(listening.url).port);
}
