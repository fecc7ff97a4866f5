import { expect, test } from "@jest/globals";
import { HeldTokens } from "../../../src/redis/held-tokens.js";

function held(): HeldTokens {
  const tokens = new HeldTokens();
  tokens.add({ id: 1, startMs: -5, readyMs: [20] }, [3], 100);
  tokens.add({ id: 4, startMs: 50, readyMs: [400] }, [3], 100);
  return tokens;
}

test("those of one reservation are there one after the other, and none before the answer, or before its turn", () => {
  const dueAt = [1, 2, 3, 4, 5, 6, 7].map((count) => held().dueAt([count], [10]));
  expect(dueAt).toEqual([100, 100, 120, 300, 400, 500, undefined]);
  expect(held().lastDueAt).toBe(500);
  expect(new HeldTokens().lastDueAt).toBe(-Infinity);
});

test("they are used from the front", () => {
  const tokens = held();
  tokens.use([4]);
  expect([tokens.total(0), tokens.ids]).toEqual([2, [4]]);
  expect(tokens.dueAt([1], [10])).toBe(400);
  tokens.reschedule([{ id: 4, startMs: 10, readyMs: [200] }], 150);
  expect([tokens.dueAt([1], [10]), tokens.dueAt([2], [10])]).toEqual([250, 350]);
  tokens.reschedule([{ id: 9, startMs: 0, readyMs: [0] }], 150);
  expect(tokens.dueAt([2], [10])).toBe(350);
});

test("a cost of several dimensions is due when the last of them is there, out of several reservations", () => {
  const tokens = new HeldTokens();
  tokens.add({ id: 1, startMs: 0, readyMs: [0, 30] }, [2, 5], 0);
  tokens.add({ id: 2, startMs: 30, readyMs: [80, 40] }, [1, 5], 0);
  const rates = [10, 1000];
  expect(tokens.dueAt([1, 0], rates)).toBe(0);
  expect(tokens.dueAt([0, 1], rates)).toBe(26);
  expect(tokens.dueAt([2, 5], rates)).toBe(30);
  expect(tokens.dueAt([2, 6], rates)).toBe(36);
  expect(tokens.dueAt([3, 6], rates)).toBe(80);
  tokens.use([0, 6]);
  expect([tokens.total(0), tokens.total(1)]).toEqual([3, 4]);
  expect(tokens.dueAt([0, 1], rates)).toBe(37);
});

test("what is not kept goes back, by the number of its reservation, and the rest is there earlier", () => {
  const tokens = held();
  expect(tokens.keep([4], [10])).toEqual([4, 2]);
  expect([tokens.total(0), tokens.dueAt([4], [10])]).toEqual([4, 300]);
  tokens.use([1]);
  expect(tokens.keep([], [10])).toEqual([1, 2, 4, 1]);
  expect([tokens.isEmpty, tokens.total(0), tokens.keep([], [10])]).toEqual([true, 0, []]);
  const others = held();
  others.clear();
  expect(others.isEmpty).toBe(true);
});
