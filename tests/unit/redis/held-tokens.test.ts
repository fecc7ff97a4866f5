import { expect, test } from "@jest/globals";
import { HeldTokens } from "../../../src/redis/held-tokens.js";

const first = {};
const second = {};

function held(): HeldTokens {
  const tokens = new HeldTokens();
  tokens.add({ tokens: 3, dueAt: 120, notBefore: 100, place: 3, request: first });
  tokens.add({ tokens: 2, dueAt: 400, notBefore: 150, place: 9, request: second });
  tokens.add({ tokens: 1, dueAt: 500, notBefore: 150, place: 10, request: second });
  return tokens;
}

test("those of one place are there one after the other, and none before the answer came", () => {
  const dueAt = [1, 2, 3, 4, 5, 6, 7].map((count) => held().dueAt(count, 10));
  expect(dueAt).toEqual([100, 100, 120, 300, 400, 500, undefined]);
  expect(held().lastDueAt).toBe(500);
  expect(new HeldTokens().lastDueAt).toBe(-Infinity);
});

test("they are used from the front", () => {
  const tokens = held();
  tokens.use(4);
  expect([tokens.total, tokens.places]).toEqual([2, [9, 10]]);
  expect(tokens.dueAt(1, 10)).toBe(400);
  tokens.reschedule(new Map([[9, 150]]));
  expect([tokens.dueAt(1, 10), tokens.dueAt(2, 10)]).toEqual([150, 500]);
});

test("only those of the last request can go back", () => {
  const tokens = held();
  expect(tokens.clear()).toEqual({ place: 10, tokens: 3 });
  expect([tokens.total, tokens.places]).toEqual([0, []]);
  expect(tokens.clear()).toBeUndefined();
});
