import { performance } from "node:perf_hooks";
import { App, ContextKey, Environment, KeyedRateLimiter, runMain, useContext } from "tidegate";
import { readOrExit } from "../support/number-options.js";
import type { QuotaRate } from "../support/quota.js";
import { Frontier } from "./frontier.js";
import { type CrawlOptions, OPTIONS, readOptions } from "./options.js";
import { CONNECTIONS, FRONTIER, POLITENESS, crawl } from "./pipeline.js";
import { type Site, startSite } from "./site.js";
import { type Failure, summaryOf } from "./summary.js";

const SITE = new ContextKey<Site>("site");

/** The burst of the budget: what a machine that stalls for less makes up. */
const BURST_SECS = 0.5;

/**
 * What a host allows so that it never has to refuse. At most `CONNECTIONS` pages have taken their turn and not arrived,
 * and one more waits for a connection: so many more than were granted can arrive in any time, and with them those that a
 * late timer grants, 5 ms of the rate.
 */
function quotaFor(rate: number): QuotaRate {
  const granted = Math.max(1, BURST_SECS * rate) + 0.005 * rate;
  return { perSecond: rate, burst: Math.ceil(granted) + CONNECTIONS + 1 };
}

function crawlEnvironment({ pages, hosts, rate, seed, "slow-ms": slowMs }: CrawlOptions): Environment {
  return new Environment({
    name: "crawl",
    lifespan: async function* (builder) {
      const failures: Failure[] = [];
      builder.setExceptionHandler((error, { key }) => {
        failures.push({ url: String(key), error });
      });
      const plan = { pages, hosts, seed, slowMs, quota: quotaFor(rate) };
      const site = await builder.provideWith(SITE, startSite(plan));
      const frontier = builder.provide(FRONTIER, new Frontier(site.hosts));
      const budget = { maxRowsPerSecond: rate, burstWindowSecs: BURST_SECS };
      builder.provide(POLITENESS, new KeyedRateLimiter<string>(budget));
      const begunAt = performance.now();
      yield;
      // After the crawl, however it has ended: all its requests have ended too, and the site is still there.
      const seconds = (performance.now() - begunAt) / 1000;
      console.log(summaryOf({ seconds, found: frontier.found, failures, hosts: site.tally() }));
    },
  });
}

function main(): Promise<void> {
  const { hosts, url } = useContext(SITE);
  return crawl(hosts, url);
}

const options = readOrExit(readOptions, OPTIONS);
console.log(
  `Crawling ${String(options.pages)} pages on ${String(options.hosts)} hosts that allow ${String(options.rate)} ` +
    "requests/s each. Ctrl-C lets the requests in flight end.\n",
);
await runMain(new App({ name: "crawl", environment: crawlEnvironment(options) }, main), { progress: true });
