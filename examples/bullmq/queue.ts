import { type ConnectionOptions, Queue, QueueEvents } from "bullmq";

/** The name of the queue. */
export const QUEUE = "embed";

/** How BullMQ connects. Its calls block, and may have to wait for as long as they like. */
export function connectionTo(redisPort: number): ConnectionOptions {
  return { host: "127.0.0.1", port: redisPort, maxRetriesPerRequest: null };
}

/** What has become of the jobs. */
export interface JobTally {
  /** Done, by the name of the worker. */
  readonly doneBy: Readonly<Record<string, number>>;
  readonly done: number;
  /** Why the others have failed. */
  readonly failures: readonly string[];
}

/** The jobs, as those see them who want them done. */
export class Jobs implements AsyncDisposable {
  readonly #queue: Queue<string, number[]>;
  readonly #events: QueueEvents;

  constructor(redisPort: number) {
    const connection = connectionTo(redisPort);
    this.#queue = new Queue(QUEUE, { connection });
    // From the first one on, for a job may have ended before the events are asked for.
    this.#events = new QueueEvents(QUEUE, { connection, lastEventId: "0" });
  }

  /**
   * Adds a job for each text and waits until all of them have ended, done or failed.
   *
   * @throws The signal's `reason` when it aborts before.
   */
  async doAll(texts: readonly string[], signal: AbortSignal): Promise<void> {
    let left = texts.length;
    const ended = new Promise<void>((resolve, reject) => {
      const count = (): void => {
        left -= 1;
        if (left === 0) resolve();
      };
      this.#events.on("completed", count).on("failed", count);
      const leave = (): void => {
        reject(signal.reason);
      };
      if (signal.aborted) leave();
      else signal.addEventListener("abort", leave, { once: true });
    });
    await Promise.all([this.#queue.addBulk(texts.map((data) => ({ name: "embed", data }))), ended]);
  }

  async tally(): Promise<JobTally> {
    const [done, failed] = await Promise.all([this.#queue.getCompleted(0, -1), this.#queue.getFailed(0, -1)]);
    const doneBy: Record<string, number> = {};
    for (const { processedBy = "" } of done) doneBy[processedBy] = (doneBy[processedBy] ?? 0) + 1;
    return { doneBy, done: done.length, failures: failed.map(({ failedReason }) => failedReason) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#events.close();
    await this.#queue.close();
  }
}
