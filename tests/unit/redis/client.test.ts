import { EventEmitter } from "node:events";
import { expect, test } from "@jest/globals";
import { type RedisClient, senderOf } from "../../../src/redis/client.js";

const ARGS = ["EVALSHA", "sha", "1", "the key", "look"];

test.each<[string, (record: (...args: unknown[]) => Promise<unknown>) => RedisClient, unknown[]]>([
  ["a function", (record) => record, [ARGS]],
  ["call", (record) => ({ call: record }), ARGS],
  [
    "call, before sendCommand",
    (record) => ({ call: record, sendCommand: () => Promise.reject(new Error("no")) }),
    ARGS,
  ],
  ["sendCommand", (record) => ({ sendCommand: record }), [ARGS]],
  ["sendCommand of a cluster", (record) => ({ masters: [], sendCommand: record }), ["the key", false, ARGS]],
])("speaks to a client by its shape: %s", async (_shape, make, expected) => {
  const sent: unknown[][] = [];
  const client = make((...args) => {
    sent.push(args);
    return Promise.resolve("answer");
  });
  expect(await senderOf(client)(ARGS)).toBe("answer");
  expect(sent).toEqual([expected]);
});

test("a method keeps its client", async () => {
  class Client {
    readonly answer = "mine";
    call(): Promise<unknown> {
      return Promise.resolve(this.answer);
    }
  }
  expect(await senderOf(new Client())(ARGS)).toBe("mine");
});

test.each<[string, unknown, string]>([
  ["undefined", undefined, "a client of ioredis"],
  ["null", null, "a client of ioredis"],
  ["an object without either", {}, "a client of ioredis"],
  [
    "a client that resends",
    { call: () => undefined, options: { autoResendUnfulfilledCommands: true } },
    "autoResendUnfulfilledCommands: false",
  ],
  [
    "a cluster that resends",
    { call: () => undefined, options: { retryDelayOnFailover: 100 } },
    "retryDelayOnFailover: 0",
  ],
  [
    "a cluster whose nodes connect again and resend, as they do unless told",
    { call: () => undefined, options: { retryDelayOnFailover: 0, clusterNodeRetryStrategy: () => 50 } },
    "redisOptions: { autoResendUnfulfilledCommands: false }",
  ],
  [
    "a sentinel of node-redis, which resends",
    { sendCommand: () => undefined, getSentinelNode: () => undefined },
    "maxCommandRediscovers: 0",
  ],
])("refused: %s", (_case, client, message) => {
  expect(() => senderOf(client as RedisClient)).toThrow(message);
});

test.each<[string, object]>([
  ["client", { autoResendUnfulfilledCommands: false }],
  ["cluster", { retryDelayOnFailover: 0, redisOptions: { autoResendUnfulfilledCommands: true } }],
  [
    "cluster whose nodes connect again",
    {
      retryDelayOnFailover: 0,
      clusterNodeRetryStrategy: () => 50,
      redisOptions: { autoResendUnfulfilledCommands: false },
    },
  ],
])("a %s that does not resend is taken", (_kind, options) => {
  expect(senderOf({ call: () => Promise.resolve(), options } as RedisClient)).toBeInstanceOf(Function);
});

/** A client whose calls have no end. */
class Endless extends EventEmitter {
  status = "ready";
  calls = 0;
  call(): Promise<unknown> {
    this.calls += 1;
    return new Promise(() => undefined);
  }
}

test("a call fails when its connection is lost, with one listener for all calls of a client", async () => {
  const client = new Endless();
  const [send, other] = [senderOf(client), senderOf(client)];
  const calls = [send(ARGS), other(ARGS)];
  expect(client.listenerCount("close")).toBe(1);
  client.emit("close");
  for (const call of calls) await expect(call).rejects.toThrow("The connection was lost");
  expect(client.calls).toBe(2);
});

test("a call that waits with its client for a connection is not lost with an earlier one", async () => {
  const client = new Endless();
  const send = senderOf(client);
  const lost = send(ARGS);
  client.status = "reconnecting";
  const waits = send(ARGS);
  client.emit("close");
  await expect(lost).rejects.toThrow("The connection was lost");
  expect(await Promise.race([waits, Promise.resolve("waits")])).toBe("waits");
});

test("answers and errors of a connected client are passed on as they are", async () => {
  const error = new Error("no");
  const client = Object.assign(new EventEmitter(), {
    status: "ready",
    call: (command: string) => (command === "EVAL" ? Promise.reject(error) : Promise.resolve(command)),
  });
  const send = senderOf(client);
  expect(await send(["PING"])).toBe("PING");
  await expect(send(["EVAL"])).rejects.toBe(error);
  client.emit("close");
});
