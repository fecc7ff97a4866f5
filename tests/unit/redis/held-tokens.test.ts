import { expect, test } from "@jest/globals";
import { HeldTokens } from "../../../src/redis/held-tokens.js";

function held(): HeldTokens {
  const tokens = new HeldTokens();
  tokens.add({ id: 1, startMs: -5, readyMs: [20] }, [3], [10], 100);
  tokens.add({ id: 4, startMs: 50, readyMs: [400] }, [3], [10], 100);
  return tokens;
}

test("those of one reservation are there one after the other, and none before the answer, or before its turn", () => {
  const dueAt = [1, 2, 3, 4, 5, 6, 7].map((count) => held().dueAt([count]));
  expect(dueAt).toEqual([100, 100, 120, 300, 400, 500, undefined]);
  expect(held().lastDueAt).toBe(500);
  expect(new HeldTokens().lastDueAt).toBe(-Infinity);
});

test("they are used from the front", () => {
  const tokens = held();
  tokens.use([4]);
  expect([tokens.total(0), tokens.ids]).toEqual([2, [4]]);
  expect(tokens.dueAt([1])).toBe(400);
  tokens.reschedule([{ id: 4, startMs: 10, readyMs: [200] }], [10], 150);
  expect([tokens.dueAt([1]), tokens.dueAt([2])]).toEqual([250, 350]);
  tokens.reschedule([{ id: 9, startMs: 0, readyMs: [0] }], [10], 150);
  expect(tokens.dueAt([2])).toBe(350);
});

test("a cost of several dimensions is due when the last of them is there, out of several reservations", () => {
  const tokens = new HeldTokens();
  const rates = [10, 1000];
  tokens.add({ id: 1, startMs: 0, readyMs: [0, 30] }, [2, 5], rates, 0);
  tokens.add({ id: 2, startMs: 30, readyMs: [80, 40] }, [1, 5], rates, 0);
  expect(tokens.dueAt([1, 0])).toBe(0);
  expect(tokens.dueAt([0, 1])).toBe(26);
  expect(tokens.dueAt([2, 5])).toBe(30);
  expect(tokens.dueAt([2, 6])).toBe(36);
  expect(tokens.dueAt([3, 6])).toBe(80);
  tokens.use([0, 6]);
  expect([tokens.total(0), tokens.total(1)]).toEqual([3, 4]);
  expect(tokens.dueAt([0, 1])).toBe(37);
});

test("what is not kept goes back, by the number of its reservation, and the rest is there earlier", () => {
  const tokens = held();
  expect(tokens.keep([4])).toEqual([4, 2]);
  expect([tokens.total(0), tokens.dueAt([4])]).toEqual([4, 300]);
  tokens.use([1]);
  expect(tokens.keep([])).toEqual([1, 2, 4, 1]);
  expect([tokens.isEmpty, tokens.total(0), tokens.keep([])]).toEqual([true, 0, []]);
  const others = held();
  others.clear();
  expect(others.isEmpty).toBe(true);
});

test("a reservation keeps the rate that it was told with, until it is told anew", () => {
  const tokens = held();
  tokens.add({ id: 5, startMs: 0, readyMs: [900] }, [2], [2], 100);
  expect([tokens.dueAt([3]), tokens.dueAt([7]), tokens.dueAt([8])]).toEqual([120, 500, 1000]);
  tokens.reschedule([{ id: 4, startMs: 0, readyMs: [3000] }], [1], 100);
  expect([tokens.dueAt([4]), tokens.dueAt([6])]).toEqual([1100, 3100]);
  tokens.keep([5]);
  expect(tokens.dueAt([5])).toBe(2100);
});
