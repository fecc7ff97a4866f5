import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
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

const KEEPS_NOTHING = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];

/** A server of its own on a free port of this machine, which keeps nothing. */
export class RedisServer {
  readonly port: number;
  readonly #options: readonly string[];
  #process: ChildProcess | undefined = undefined;

  protected constructor(port: number, options: readonly string[]) {
    this.port = port;
    this.#options = options;
  }

  /** @param options - Of the command line, besides those that every server here has. */
  static async start(options: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), options);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${String(this.port)}`;
  }

  async start(): Promise<void> {
    const args = ["--port", String(this.port), ...KEEPS_NOTHING, ...this.#options];
    this.#process = spawn(PROGRAM, args, { stdio: "ignore", cwd: tmpdir() });
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

/** A node of a cluster: it has no slots yet, and knows no other. It writes down what it knows, in a folder of its own. */
export class RedisNode extends RedisServer {
  /** Where the nodes speak to each other. */
  readonly busPort: number;
  readonly #dir: string;

  private constructor(port: number, busPort: number, dir: string) {
    super(port, ["--cluster-enabled", "yes", "--cluster-port", String(busPort), "--dir", dir]);
    this.busPort = busPort;
    this.#dir = dir;
  }

  static override async start(): Promise<RedisNode> {
    const dir = await mkdtemp(join(tmpdir(), "redis-node-"));
    const node = new RedisNode(await freePort(), await freePort(), dir);
    await node.start();
    return node;
  }

  override async stop(): Promise<void> {
    await super.stop();
    await rm(this.#dir, { recursive: true, force: true });
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
