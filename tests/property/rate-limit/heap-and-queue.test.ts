import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { DeadlineHeap } from "../../../src/internal/deadline-heap.js";
import { Queue, QueueNode } from "../../../src/internal/queue.js";

interface Entry {
  readonly at: number;
  over: boolean;
}

describe("DeadlineHeap", () => {
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("add" as const), at: fc.nat({ max: 20 }) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("over" as const), index: fc.nat() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("take" as const), limit: fc.nat({ max: 20 }) }) },
  );

  test("gives what a sorted list gives, however many entries are over", () => {
    // Long ones too: entries that are over are dropped in bulk once there are 64 of them.
    const steps = fc.array(step, { maxLength: 600, size: "max" });
    fc.assert(
      fc.property(steps, (plan) => {
        const heap = new DeadlineHeap<Entry>((entry) => entry.over);
        let model: Entry[] = [];
        for (const one of plan) {
          if (one.do === "add") {
            const entry = { at: one.at, over: false };
            heap.add(entry.at, entry);
            model.push(entry);
          } else if (one.do === "over") {
            const entry = model[one.index % Math.max(1, model.length)];
            if (entry === undefined) continue;
            entry.over = true;
            heap.noteOver();
            model = model.filter((other) => other !== entry);
          } else {
            const earliest = Math.min(...model.map(({ at }) => at));
            const taken = heap.takeDue(one.limit);
            expect(taken?.at).toBe(earliest <= one.limit ? earliest : undefined);
            model = model.filter((other) => other !== taken);
          }
          expect(heap.earliest()).toBe(Math.min(...model.map(({ at }) => at)));
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe("Queue", () => {
  class Node extends QueueNode {
    readonly id: number;

    constructor(id: number) {
      super();
      this.id = id;
    }
  }

  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ do: fc.constant("push" as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("remove" as const), index: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("again" as const), index: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("drain" as const), count: fc.nat({ max: 3 }) }) },
  );

  test("holds what a list holds, in its order, with members leaving anywhere", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80, size: "max" }), (plan) => {
        const queue = new Queue<Node>();
        const made: Node[] = [];
        let model: Node[] = [];
        for (const one of plan) {
          if (one.do === "push") {
            const node = new Node(made.length);
            made.push(node);
            model.push(node);
            queue.push(node);
          } else if (one.do === "drain") {
            let left = one.count;
            for (const head of queue.drain()) {
              if (left === 0) break;
              left -= 1;
              expect(head).toBe(model[0]);
              queue.remove(head);
              model.shift();
            }
          } else {
            // Any node ever made: one that has left already is removed again without effect, or comes back.
            const node = made[one.index % Math.max(1, made.length)];
            if (node === undefined) continue;
            const waits = model.includes(node);
            if (one.do === "remove") queue.remove(node);
            else if (!waits) queue.push(node);
            model =
              one.do === "remove"
                ? model.filter((other) => other !== node)
                : waits
                  ? model
                  : [...model, node];
          }
          expect([...queue].map(({ id }) => id)).toEqual(model.map(({ id }) => id));
          expect(queue.head).toBe(model[0]);
        }
      }),
      { numRuns: 100 },
    );
  });
});
