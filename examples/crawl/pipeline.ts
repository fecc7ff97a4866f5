import { ContextKey, type KeyedRateLimiter, fn, mountEach, useContext, useSignal } from "tidegate";
import type { Frontier } from "./frontier.js";

export const POLITENESS = new ContextKey<KeyedRateLimiter<string>>("politeness");
export const FRONTIER = new ContextKey<Frontier>("frontier");

/** Most requests in flight at one host. The margin of its budget depends on it. */
export const CONNECTIONS = 16;

const visit = fn(async function visit(url: string): Promise<void> {
  const frontier = useContext(FRONTIER);
  try {
    const response = await fetch(url, { signal: useSignal() });
    const html = await response.text();
    if (!response.ok) throw new Error(`${String(response.status)} ${response.statusText}`);
    for (const [, href = ""] of html.matchAll(/<a href="([^"]*)"/g)) frontier.add(new URL(href, url).href);
  } finally {
    frontier.finish();
  }
});

/** The pages of a host, each when it is its turn. */
async function* turns(host: string): AsyncGenerator<readonly [string, string], void, void> {
  const frontier = useContext(FRONTIER);
  try {
    for await (const url of frontier.of(host)) {
      await useContext(POLITENESS).acquire(host);
      yield [url, url];
    }
  } finally {
    frontier.close(); // a drain has dropped a page, and whoever waits for its links would wait for ever
  }
}

/**
 * Visits every page once. Which hosts may be crawled, and how fast, is for those to decide who provide FRONTIER and
 * POLITENESS. A page that fails stays alone: it goes to the exception handler.
 *
 * A page takes its turn before it is mounted, not in its item. So a drain, which starts no further items of main and
 * lets those in flight do all they do, lets the requests end that have left, and no other leaves.
 */
export async function crawl(hosts: readonly string[], start: string): Promise<void> {
  useContext(FRONTIER).add(start);
  await Promise.all(hosts.map((host) => mountEach(visit, turns(host), { concurrency: CONNECTIONS })));
}
