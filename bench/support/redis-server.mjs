import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A server of a cluster takes two or three seconds until it serves its slots. */
const START_LIMIT_MS = 15_000;

const SLOTS = 16_384;
/** A node of a cluster uses a second port, so far above the first. */
const CLUSTER_PORT_OFFSET = 10_000;
const LAST_PORT = 65_535;

export function hasRedis() {
  try {
    execFileSync("redis-server", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/**
 * Calls `body` with the port of a Redis server of its own, which keeps nothing, and stops the server afterwards.
 *
 * @param {"stock" | "cluster"} kind A single server, or a cluster of one node that serves all slots.
 * @param {(port: number) => Promise<T>} body
 * @template T
 */
export async function withRedis(kind, body) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "bench-redis-"));
  const args = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder];
  if (kind === "cluster") args.push("--cluster-enabled", "yes");
  const server = spawn("redis-server", args, { stdio: "ignore" });
  const gone = once(server, "exit");
  const stop = () => server.kill("SIGKILL");
  process.once("exit", stop);
  try {
    await Promise.race([prepare(kind, port), gone.then(failToStart)]);
    return await body(port);
  } finally {
    process.removeListener("exit", stop);
    stop();
    await gone;
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Waits until the server answers, and serves all slots where it is a cluster. */
async function prepare(kind, port) {
  // Loaded when the peers are installed.
  const { connect } = await import("../peers/faults/redis.mjs");
  const client = connect(port);
  // The client connects again and again until the server is up.
  client.on("error", () => undefined);
  try {
    await client.ping();
    if (kind !== "cluster") return;
    await client.call("CLUSTER", "ADDSLOTS", ...Array.from({ length: SLOTS }, (_, slot) => String(slot)));
    const giveUpAt = performance.now() + START_LIMIT_MS;
    while (!(await client.call("CLUSTER", "INFO")).includes("cluster_state:ok")) {
      if (performance.now() > giveUpAt) failToStart();
      await sleep(100);
    }
  } finally {
    client.disconnect();
  }
}

function failToStart() {
  throw new Error("The Redis server does not come up.");
}

async function freePort() {
  for (;;) {
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const { port } = probe.address();
    probe.close();
    await once(probe, "close");
    if (port + CLUSTER_PORT_OFFSET <= LAST_PORT) return port;
  }
}
