/** A member of at most one queue, with the links in itself: joining and leaving allocate nothing. */
export class QueueNode {
  prev: QueueNode | undefined = undefined;
  next: QueueNode | undefined = undefined;
}

/**
 * First in, first out; a member anywhere in it leaves in constant time. The queue is the sentinel of its own ring:
 * `next` is the oldest member, `prev` the newest.
 */
export class Queue<N extends QueueNode> extends QueueNode {
  constructor() {
    super();
    this.prev = this;
    this.next = this;
  }

  get head(): N | undefined {
    return this.next === this ? undefined : (this.next as N);
  }

  /** Puts a node that is in no queue behind all others. */
  push(node: N): void {
    const newest = this.prev as QueueNode;
    node.prev = newest;
    node.next = this;
    newest.next = node;
    this.prev = node;
  }

  /** Takes a member out. Does nothing when the node is in no queue. */
  remove(node: N): void {
    const { prev, next } = node;
    if (prev === undefined || next === undefined) return;
    prev.next = next;
    next.prev = prev;
    node.prev = undefined;
    node.next = undefined;
  }

  /** Members from oldest to newest; the queue must not change meanwhile. */
  *[Symbol.iterator](): Generator<N, void, void> {
    for (let node = this.next; node !== this; node = (node as QueueNode).next) yield node as N;
  }

  /** The oldest member again and again until none is left; whoever takes one must see to it that it leaves. */
  *drain(): Generator<N, void, void> {
    for (let head = this.head; head !== undefined; head = this.head) yield head;
  }
}
