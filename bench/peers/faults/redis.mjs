import { Redis } from "ioredis";

/** A client of the server at that port; it waits until the server is up. */
export function connect(port) {
  return new Redis({ port, host: "127.0.0.1" });
}
