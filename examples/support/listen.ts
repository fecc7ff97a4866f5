import { type RequestListener, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that listens; disposed of, it cuts all connections. */
export interface Listening extends AsyncDisposable {
  readonly url: string;
}

/** Real HTTP on a free loopback port. */
export async function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
