import { expect, test } from "@jest/globals";
import { Queue, QueueNode } from "../../../src/internal/queue.js";

class Named extends QueueNode {
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }
}

function filled(...names: string[]): { queue: Queue<Named>; nodes: Named[] } {
  const queue = new Queue<Named>();
  const nodes = names.map((name) => new Named(name));
  for (const node of nodes) queue.push(node);
  return { queue, nodes };
}

const namesIn = (queue: Queue<Named>): string[] => [...queue].map(({ name }) => name);

test("an empty queue has no head and no members", () => {
  const queue = new Queue<Named>();
  expect(queue.head).toBeUndefined();
  expect(namesIn(queue)).toEqual([]);
  expect([...queue.drain()]).toEqual([]);
});

test("first in, first out", () => {
  const { queue } = filled("a", "b", "c");
  const out: string[] = [];
  for (let head = queue.head; head !== undefined; head = queue.head) {
    out.push(head.name);
    queue.remove(head);
  }
  expect(out).toEqual(["a", "b", "c"]);
});

test.each([
  [0, ["b", "c"]],
  [1, ["a", "c"]],
  [2, ["a", "b"]],
])("member %d leaves and the others stay", (index, rest) => {
  const { queue, nodes } = filled("a", "b", "c");
  const node = nodes[index] as Named;
  queue.remove(node);
  expect(namesIn(queue)).toEqual(rest);
  expect(queue.head?.name).toBe(rest[0]);
  expect([node.prev, node.next]).toEqual([undefined, undefined]);
});

test("to remove a node twice, or one that is in no queue, does nothing", () => {
  const { queue, nodes } = filled("a", "b");
  queue.remove(nodes[0] as Named);
  queue.remove(nodes[0] as Named);
  queue.remove(new Named("stranger"));
  expect(namesIn(queue)).toEqual(["b"]);
});

test("a member that left can join again, at the end", () => {
  const { queue, nodes } = filled("a", "b");
  queue.remove(nodes[0] as Named);
  queue.push(nodes[0] as Named);
  expect(namesIn(queue)).toEqual(["b", "a"]);
});

test("drain gives each member that is at the head, also those that come meanwhile", () => {
  const { queue } = filled("a", "b", "c");
  const out: string[] = [];
  for (const node of queue.drain()) {
    out.push(node.name);
    queue.remove(node);
    if (node.name === "a") queue.push(new Named("late"));
  }
  expect(out).toEqual(["a", "b", "c", "late"]);
  expect(queue.head).toBeUndefined();
});
