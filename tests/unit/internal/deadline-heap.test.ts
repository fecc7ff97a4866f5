import { describe, expect, test } from "@jest/globals";
import { DeadlineHeap } from "../../../src/internal/deadline-heap.js";

interface Entry {
  readonly at: number;
  over: boolean;
}

function heapOf(times: readonly number[]): { heap: DeadlineHeap<Entry>; entries: Entry[] } {
  const heap = new DeadlineHeap<Entry>((entry) => entry.over);
  const entries = times.map((at) => ({ at, over: false }));
  for (const entry of entries) heap.add(entry.at, entry);
  return { heap, entries };
}

function takeAll(heap: DeadlineHeap<Entry>, limit = Infinity): number[] {
  const taken: number[] = [];
  for (let entry = heap.takeDue(limit); entry !== undefined; entry = heap.takeDue(limit))
    taken.push(entry.at);
  return taken;
}

/** Numbers that look random and are the same every time. */
function numbers(count: number): number[] {
  let state = 12_345;
  return Array.from({ length: count }, () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31));
}

describe("DeadlineHeap", () => {
  test("is empty at first", () => {
    const { heap } = heapOf([]);
    expect(heap.earliest()).toBe(Infinity);
    expect(heap.takeDue(Infinity)).toBeUndefined();
  });

  test("gives the earliest first, whatever the order of adding", () => {
    const times = numbers(1_000);
    const { heap } = heapOf(times);
    expect(heap.earliest()).toBe(Math.min(...times));
    expect(takeAll(heap)).toEqual([...times].sort((a, b) => a - b));
  });

  test("gives what is due at the limit or before, and keeps the rest", () => {
    const { heap } = heapOf([5, 1, 3, 4, 2]);
    expect(takeAll(heap, 0.999)).toEqual([]);
    expect(takeAll(heap, 3)).toEqual([1, 2, 3]);
    expect(heap.earliest()).toBe(4);
    expect(takeAll(heap)).toEqual([4, 5]);
  });

  test("equal times all count", () => {
    const { heap } = heapOf([2, 1, 2, 1, 1]);
    expect(takeAll(heap)).toEqual([1, 1, 1, 2, 2]);
  });

  test("passes over entries that are over", () => {
    const { heap, entries } = heapOf([1, 2, 3, 4]);
    for (const index of [0, 2]) (entries[index] as Entry).over = true;
    expect(heap.earliest()).toBe(2);
    expect(takeAll(heap)).toEqual([2, 4]);
  });

  test("drops what is over once that is most of it", () => {
    const { heap, entries } = heapOf(numbers(10_000));
    let asked = 0;
    const kept = entries.filter((_, index) => index % 10 === 0).map(({ at }) => at);
    for (const [index, entry] of entries.entries()) {
      if (index % 10 === 0) continue;
      entry.over = true;
      heap.noteOver();
    }
    // Were they still there, each would be asked for at the latest now.
    for (const entry of entries) {
      Object.defineProperty(entry, "over", {
        get: () => {
          asked += 1;
          return false;
        },
      });
    }
    expect(takeAll(heap).filter((at) => kept.includes(at))).toEqual([...kept].sort((a, b) => a - b));
    expect(asked).toBeLessThan(8_000);
  });

  test("stays right when entries come, fall due and are over in any order", () => {
    const heap = new DeadlineHeap<Entry>((entry) => entry.over);
    let model: Entry[] = [];
    numbers(20_000).forEach((number, step) => {
      const at = number % 1_000;
      if (number % 3 !== 0 || model.length === 0) {
        const entry = { at, over: false };
        heap.add(at, entry);
        model.push(entry);
      } else if (number % 2 === 0) {
        const entry = model[number % model.length] as Entry;
        entry.over = true;
        heap.noteOver();
        model = model.filter((other) => other !== entry);
      } else {
        const least = Math.min(...model.map((entry) => entry.at));
        const taken = heap.takeDue(least);
        expect(taken?.at).toBe(least);
        model = model.filter((other) => other !== taken);
      }
      if (step % 100 === 0) expect(heap.earliest()).toBe(Math.min(...model.map((entry) => entry.at)));
    });
    expect(takeAll(heap)).toEqual(model.map(({ at }) => at).sort((a, b) => a - b));
  });
});
