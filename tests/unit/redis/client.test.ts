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
])("refused: %s", (_case, client, message) => {
  expect(() => senderOf(client as RedisClient)).toThrow(message);
});

test("a client that does not resend is taken", () => {
  const options = { autoResendUnfulfilledCommands: false, retryDelayOnFailover: 0 };
  expect(senderOf({ call: () => Promise.resolve(), options } as RedisClient)).toBeInstanceOf(Function);
});
