import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { describe } from "@jest/globals";

const PROGRAM = process.env["REDIS_SERVER"] ?? "redis-server";

const isThere = spawnSync(PROGRAM, ["--version"]).status === 0;

/** Tests that need a server. Where CI is set they run, and fail, also without one. */
export const describeWithRedis: typeof describe | typeof describe.skip =
  isThere || process.env["CI"] !== undefined ? describe : describe.skip;

if (!isThere) {
  console.warn(
    "No redis-server: the tests that need one are skipped. Install it (apt-get install redis-server, brew install redis), or set REDIS_SERVER to its path.",
  );
}

/** A server of its own on a free port of this machine, which keeps nothing. */
export class RedisServer {
  readonly port: number;
  readonly #options: readonly string[];
  #process: ChildProcess | undefined = undefined;

  private constructor(port: number, options: readonly string[]) {
    this.port = port;
    this.#options = options;
  }

  /** @param options - Of the command line, besides those that every server here has. */
  static async start(options: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), options);
    await server.start();
    return server;
  }

  /** A node of a cluster: it has no slots yet, and knows no other. */
  static async startNode(): Promise<RedisServer> {
    const dir = await mkdtemp(join(tmpdir(), "redis-node-"));
    const busPort = String(await freePort());
    return RedisServer.start(["--cluster-enabled", "yes", "--cluster-port", busPort, "--dir", dir]);
  }

  get url(): string {
    return `redis://127.0.0.1:${String(this.port)}`;
  }

  async start(): Promise<void> {
    const args = [
      "--port",
      String(this.port),
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
    ].concat(this.#options);
    this.#process = spawn(PROGRAM, args, { stdio: "ignore", cwd: "/tmp" });
    await once(this.#process, "spawn");
    while (!(await this.#answers())) await pass(10);
  }

  signal(name: NodeJS.Signals): void {
    this.#process?.kill(name);
  }

  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  #answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, "127.0.0.1");
      socket.once("connect", () => socket.write("PING\r\n"));
      const end = (isUp: boolean): void => {
        socket.destroy();
        resolve(isUp);
      };
      socket.once("data", (data) => {
        end(data.toString().startsWith("+PONG"));
      });
      socket.once("error", () => {
        end(false);
      });
    });
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}
