import { fileURLToPath } from "node:url";
import { outputOf } from "../support/node-process.mjs";
import { withRedis } from "../support/redis-server.mjs";

const CHILD = fileURLToPath(new URL("alone-child.mjs", import.meta.url));
const TIME_LIMIT_MS = 60_000;

/**
 * @typedef {object} Alone
 * @property {number} ms What one call takes, in milliseconds.
 * @property {number} ratio The same as a multiple of a script that does nothing.
 * @property {number} perSecond Calls a second when 64 come at once.
 */

/** @returns {Promise<Alone>} */
export function measureAlone(contestant) {
  return withRedis("stock", async (port) =>
    JSON.parse(await outputOf(CHILD, [JSON.stringify({ contestant, port })], { timeLimitMs: TIME_LIMIT_MS })),
  );
}
