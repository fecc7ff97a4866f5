/** What is still to be crawled, a queue for each host. A URL is handed out once, however often it is found. */
export class Frontier {
  readonly #queues: ReadonlyMap<string, string[]>;
  readonly #found = new Set<string>();
  /** URLs found and not finished: while there are any, further ones may turn up. */
  #unfinished = 0;
  #isClosed = false;
  #wakers: (() => void)[] = [];

  /** @param hosts - As they stand in URLs. Links to others are not followed. */
  constructor(hosts: readonly string[]) {
    this.#queues = new Map(hosts.map((host) => [host, []]));
  }

  /** How many different URLs have been found. */
  get found(): number {
    return this.#found.size;
  }

  /** Does nothing when the URL is known. */
  add(link: string): void {
    const url = new URL(link);
    url.hash = ""; // the same page
    const queue = this.#queues.get(url.host);
    if (queue === undefined || this.#found.has(url.href)) return;
    this.#found.add(url.href);
    this.#unfinished += 1;
    queue.push(url.href);
    this.#wake();
  }

  /** To be called once for each URL that was handed out, when its links are added. */
  finish(): void {
    this.#unfinished -= 1;
    if (this.#unfinished === 0) this.#wake();
  }

  /** The URLs of a host, also those that turn up later. Ends when every URL of every host is finished, or on `close`. */
  async *of(host: string): AsyncGenerator<string, void, void> {
    const queue = this.#queues.get(host) ?? [];
    while (!this.#isClosed) {
      const url = queue.shift();
      if (url !== undefined) yield url;
      else if (this.#unfinished === 0) return;
      else await new Promise<void>((resolve) => this.#wakers.push(resolve));
    }
  }

  /** Hands out nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#wakers.splice(0)) wake();
  }
}
