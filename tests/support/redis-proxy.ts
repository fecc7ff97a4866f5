import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pass } from "node:timers/promises";

/** Stands between clients and a server on this machine, on a free port: what it passes on can be late, or be lost. */
export class RedisProxy {
  /** Milliseconds that each way takes. */
  delayMs = 0;
  /** Whether answers are lost; commands still come to the server. */
  isSwallowing = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(serverPort: number) {
    this.#server = createServer((client) => {
      const server = connect(serverPort, "127.0.0.1");
      this.#join(client, server, () => true);
      this.#join(server, client, () => !this.isSwallowing);
    });
  }

  static async start(serverPort: number): Promise<RedisProxy> {
    const proxy = new RedisProxy(serverPort);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("The proxy does not listen.");
    return address.port;
  }

  /** Ends all connections; new ones can be made. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  stop(): void {
    this.cut();
    this.#server.close();
  }

  #join(from: Socket, to: Socket, passesOn: () => boolean): void {
    this.#sockets.add(from);
    let before = Promise.resolve();
    from.on("data", (data) => {
      if (!passesOn()) return;
      // In order, also when the delay has become shorter.
      before = Promise.all([before, pass(this.delayMs)]).then(() => {
        if (to.writable) to.write(data);
      });
    });
    from.on("error", () => undefined); // the close that follows tells enough
    from.on("close", () => {
      this.#sockets.delete(from);
      to.destroy();
    });
  }
}
