import { InvalidArgumentError } from "../errors.js";
import { failWithConnection } from "./lost-calls.js";

/** Sends one command, its name first, and gives what the server answers. */
export type SendCommand = (args: string[]) => Promise<unknown>;

/**
 * What commands are sent with: a client or cluster of ioredis or iovalkey (`call`), of node-redis (`sendCommand`), or a
 * function. It stays the caller's: nothing here connects or closes it.
 */
export type RedisClient =
  | SendCommand
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(args: string[]): Promise<unknown> }
  | {
      readonly masters: unknown;
      sendCommand(firstKey: string, isReadonly: boolean, args: string[]): Promise<unknown>;
    };

interface Shape {
  readonly call?: (command: string, ...args: string[]) => Promise<unknown>;
  readonly sendCommand?: (...args: unknown[]) => Promise<unknown>;
}

/** The options by which clients of ioredis and iovalkey send a command again after a broken connection. */
interface Resending {
  readonly autoResendUnfulfilledCommands?: unknown;
  /** Of a cluster: milliseconds until it sends again. */
  readonly retryDelayOnFailover?: unknown;
  /** Of a cluster: whether its nodes connect again, and so send again by options of their own. */
  readonly clusterNodeRetryStrategy?: unknown;
  readonly redisOptions?: Pick<Resending, "autoResendUnfulfilledCommands">;
}

/** Where the key is in EVALSHA and EVAL: a cluster sends a command to the node of its key. */
const KEY_INDEX = 3;

/** Finds out how `client` is spoken to. @throws InvalidArgumentError (`ARGUMENT_INVALID`) when it cannot be used. */
export function senderOf(client: RedisClient): SendCommand {
  if (typeof client === "function") return client;
  const { call, sendCommand } = (client as Shape | null | undefined) ?? {};
  // First, for what ioredis calls sendCommand takes objects of its own.
  if (typeof call === "function") {
    refuseResending(client);
    return ([command = "", ...args]) => failWithConnection(client, () => call.call(client, command, ...args));
  }
  if (typeof sendCommand === "function") {
    if ("getSentinelNode" in client) {
      throw new InvalidArgumentError(
        "client",
        "not a sentinel of node-redis, for it sends again what may have been carried out; give a function over one made with maxCommandRediscovers: 0",
        client,
      );
    }
    return "masters" in client
      ? (args) => sendCommand.call(client, args[KEY_INDEX], false, args)
      : (args) => sendCommand.call(client, args);
  }
  throw new InvalidArgumentError(
    "client",
    "a client of ioredis, iovalkey or node-redis, or a function that sends a command",
    client,
  );
}

/** A command that is sent again after it was carried out spends, or gives back, a second time. */
function refuseResending(client: object): void {
  const { options = {} } = client as { readonly options?: Resending };
  if (options.autoResendUnfulfilledCommands === true) refuse(client, "autoResendUnfulfilledCommands: false");
  if (Number(options.retryDelayOnFailover ?? 0) > 0) refuse(client, "retryDelayOnFailover: 0");
  const { clusterNodeRetryStrategy, redisOptions } = options;
  if (typeof clusterNodeRetryStrategy === "function" && redisOptions?.autoResendUnfulfilledCommands !== false)
    refuse(client, "redisOptions: { autoResendUnfulfilledCommands: false }");
}

function refuse(client: object, option: string): never {
  throw new InvalidArgumentError(
    "client",
    `made with ${option}, for a command sent again may be carried out twice`,
    client,
  );
}
