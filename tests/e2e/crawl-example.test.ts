import { afterEach, describe, expect, jest, test } from "@jest/globals";
import { Frontier } from "../../examples/crawl/frontier.js";
import { startHost } from "../../examples/crawl/host.js";
import { readOptions } from "../../examples/crawl/options.js";
import { planSite } from "../../examples/crawl/site-plan.js";
import type { Finished } from "../support/run-node.js";
import { ROOT } from "../support/root.js";
import type { Step } from "./support/log-http.js";
import { MainProgram } from "./support/main-program.js";

// Nothing here depends on how fast the crawl is, but the share of the quota, and bounds that a crawl which goes on
// after a signal would miss by far.

jest.setTimeout(90_000);

interface Facts {
  readonly found: number;
  readonly pages: number;
  readonly requests: number;
  readonly tooMany: number;
  readonly failures: number;
  readonly seconds: number;
  readonly quotaUsed: Readonly<Record<string, number>>;
}

const running: MainProgram[] = [];

/** The crawl, with a line on stderr for each request that is sent, has arrived, and is answered. */
function startCrawl(...options: readonly string[]): MainProgram {
  const log = "./tests/e2e/support/log-http.ts";
  const program = new MainProgram(
    process.execPath,
    ["--import", "tsx", "--import", log, "examples/crawl/main.ts", ...options],
    ROOT,
  );
  running.push(program);
  return program;
}

afterEach(async () => {
  for (const program of running.splice(0)) await program.kill();
});

function factsOf({ stdout }: Finished): Facts {
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as Facts;
}

/** The URLs that have come to a step in a part of the log, in that order. */
function urls(step: Step, log: string): string[] {
  return [...log.matchAll(new RegExp(`^${step} (\\S+)$`, "gm"))].map(([, url = ""]) => url);
}

test("every page is fetched once, no host has to refuse, and the pages that fail are reported", async () => {
  const ended = await startCrawl("--rate", "100").ended;
  expect(ended.code).toBe(0);
  const arrived = urls("arrived", ended.stderr);
  expect(arrived).toHaveLength(2_000);
  expect(new Set(arrived).size).toBe(2_000);
  const broken = arrived.filter((url) => url.includes("/broken/"));
  expect(broken.length).toBeGreaterThan(10);

  const facts = factsOf(ended);
  expect(Object.keys(facts)).toEqual([
    "found",
    "pages",
    "requests",
    "tooMany",
    "failures",
    "seconds",
    "quotaUsed",
  ]);
  const pages = 2_000 - broken.length;
  expect(facts).toMatchObject({ found: 2_000, pages, requests: 2_000, tooMany: 0, failures: broken.length });
  // 500 requests of each host: 50 at once, the others at the rate.
  expect(facts.seconds).toBeGreaterThan(4.4);
  const shares = Object.entries(facts.quotaUsed);
  expect(shares).toHaveLength(4);
  for (const [host, quotaUsed] of shares) {
    // More would mean that the host's own count is wrong.
    expect(quotaUsed).toBeLessThanOrEqual(1);
    const of500 = broken.filter((url) => url.includes(host)).length;
    const cells = ["500", "[\\d.]+", String(500 - of500), "0", "[\\d.]+%", String(of500)];
    expect(ended.stdout).toMatch(new RegExp(`^${host} +${cells.join(" +")}$`, "m"));
  }
  const shown = [...ended.stdout.matchAll(/^ {2}(http\S+): Error: 500 Internal Server Error$/gm)];
  expect(shown).toHaveLength(3);
  for (const [, url = ""] of shown) expect(broken).toContain(url);
  expect(ended.stderr).toMatch(new RegExp(`^crawl done in .*visit ${String(pages)}/2000.* failed`, "m"));
});

test("a host that the crawl waits for is used to at least 90%", async () => {
  // So slow that a busy machine keeps up, and so long that what the budget leaves of the burst is little of it.
  const ended = await startCrawl("--hosts", "2", "--pages", "800", "--rate", "40").ended;
  expect(ended.code).toBe(0);
  const { requests, tooMany, quotaUsed } = factsOf(ended);
  expect({ requests, tooMany }).toEqual({ requests: 800, tooMany: 0 });
  expect(Object.keys(quotaUsed)).toHaveLength(2);
  for (const used of Object.values(quotaUsed)) {
    expect(used).toBeGreaterThanOrEqual(0.9);
    expect(used).toBeLessThanOrEqual(1);
  }
});

describe.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s", (signal, code) => {
  const finishing = `${signal}: finishing what is in flight; again to force\n`;
  const aborting = `${signal}: aborting what is in flight; again to exit at once\n`;

  test("what is in flight ends, nothing is sent any more, and there is a summary", async () => {
    const program = startCrawl("--rate", "25", "--slow-ms", "1500");
    await program.says("/slow/");
    program.tell(signal);
    await program.says(finishing);
    const toldAt = performance.now();
    const ended = await program.ended;
    // As long as a slow page. The drain would end it after 10 s, and the crawl itself takes 20 s.
    expect(performance.now() - toldAt).toBeLessThan(8_000);
    expect(ended.code).toBe(code);
    const [before = "", after = ""] = ended.stderr.split(finishing);
    expect(urls("sent", after)).toEqual([]);
    const sent = urls("sent", before);
    expect([...urls("arrived", before), ...urls("arrived", after)].sort()).toEqual([...sent].sort());
    // None is cut off, and what the drain has waited for is the slow page.
    expect([...urls("answered", before), ...urls("answered", after)].sort()).toEqual([...sent].sort());
    expect(urls("answered", after).join()).toContain("/slow/");
    const broken = sent.filter((url) => url.includes("/broken/")).length;
    const facts = factsOf(ended);
    expect(facts).toMatchObject({
      pages: sent.length - broken,
      requests: sent.length,
      tooMany: 0,
      failures: broken,
    });
    expect(facts.found).toBeGreaterThan(sent.length);
  });

  test("a second one aborts a page that is slow; it is no failure of that page", async () => {
    const program = startCrawl("--rate", "25", "--slow-ms", "60000");
    await program.says("/slow/");
    program.tell(signal);
    await program.says(finishing);
    program.tell(signal);
    await program.says(aborting);
    const toldAt = performance.now();
    const ended = await program.ended;
    expect(performance.now() - toldAt).toBeLessThan(8_000);
    expect(ended.code).toBe(code);
    expect(urls("answered", ended.stderr).join()).not.toContain("/slow/");
    const sent = urls("sent", ended.stderr);
    const broken = sent.filter((url) => url.includes("/broken/")).length;
    const facts = factsOf(ended);
    expect(facts.requests).toBe(urls("arrived", ended.stderr).length);
    expect(facts.pages).toBeLessThan(sent.length);
    expect(facts.failures).toBeLessThanOrEqual(broken);
    expect(ended.stderr).not.toContain("exiting, although not all has ended");
  });
});

describe("its options", () => {
  test.each([
    [["--pages", "0"], '--pages must be an integer from 1 to 20000; got "0".'],
    [["--pages", "2.5"], '--pages must be an integer from 1 to 20000; got "2.5".'],
    [["--pages", "20001"], '--pages must be an integer from 1 to 20000; got "20001".'],
    [["--rate", "fast"], '--rate must be a number from 1 to 1000; got "fast".'],
    [["--rate", " "], '--rate must be a number from 1 to 1000; got " ".'],
    [["--seed", " "], '--seed must be an integer from 0 to 1000000000; got " ".'],
    [["--hosts", "4", "--pages", "3"], "--hosts must be at most --pages, which is 3; got 4."],
    [["--speed", "4"], "Unknown option '--speed'"],
    [["fast"], "Unexpected argument 'fast'"],
  ])("%j is refused", (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });

  test("what is left out is the default; a rate may have a fraction", () => {
    expect(readOptions(["--rate", "2.5", "--slow-ms=0", "--hosts", "50"])).toEqual({
      pages: 2_000,
      hosts: 50,
      rate: 2.5,
      "slow-ms": 0,
      seed: 1,
    });
  });

  test("a wrong one ends the program with 2, before it begins, and all are shown", async () => {
    const { code, stdout, stderr } = await startCrawl("--rate", "0.5").ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.split("\n")).toEqual([
      '--rate must be a number from 1 to 1000; got "0.5".',
      "",
      "Options:",
      "  --pages <n>     pages of the site, over all hosts: 1 to 20000, default 2000",
      "  --hosts <n>     hosts that the pages are spread over: 1 to 50, default 4",
      "  --rate <n>      requests a second that each host allows: 1 to 1000, default 50",
      "  --slow-ms <n>   how long a slow page takes, in milliseconds: 0 to 600000, default 500",
      "  --seed <n>      another seed, another site: 0 to 1000000000, default 1",
      "",
    ]);
  });
});

describe("the site", () => {
  test("a host refuses what is above its quota, and knows what it has", async () => {
    const html = (): string => "<!doctype html>";
    const pages = new Map([
      ["/a", { delayMs: 0, html }],
      ["/b", { delayMs: 0, html: () => undefined }],
    ]);
    await using host = await startHost(pages, { perSecond: 0.001, burst: 3 });
    const statuses: number[] = [];
    for (const path of ["a", "b", "c", "a"]) statuses.push((await fetch(`${host.url}${path}`)).status);
    expect(statuses).toEqual([200, 500, 404, 429]);
    expect(host.tally()).toMatchObject({ requests: 4, ok: 1, broken: 1, tooMany: 1 });
    expect(host.tally().quotaUsed).toBeCloseTo(1, 3);
  });

  test("the same seed makes the same site, in which every page is reached", () => {
    expect(planSite(200, 7)).toEqual(planSite(200, 7));
    expect(planSite(200, 7)).not.toEqual(planSite(200, 8));
    for (let seed = 0; seed < 50; seed += 1) {
      const plan = planSite(100, seed);
      const reached = new Set([0]);
      for (const page of reached) {
        if (plan[page]?.kind === "page") for (const link of plan[page].links) reached.add(link);
      }
      expect(reached.size).toBe(100);
    }
  });
});

test("the frontier hands out each URL once, with those that turn up, and ends when all are finished", async () => {
  const frontier = new Frontier(["a.org", "b.org"]);
  const handedOut: string[] = [];
  const links: Record<string, string[]> = {
    "http://a.org/": ["http://a.org/#top", "http://b.org/1", "http://c.org/", "http://a.org/2"],
    "http://b.org/1": ["http://a.org/2#x", "http://a.org/3#y", "http://b.org/1"],
  };
  const work = async (host: string): Promise<void> => {
    for await (const url of frontier.of(host)) {
      handedOut.push(url);
      for (const link of links[url] ?? []) frontier.add(link);
      frontier.finish();
    }
  };
  frontier.add("http://a.org/#begin");
  await Promise.all([work("b.org"), work("a.org")]);
  expect(handedOut.sort()).toEqual(["http://a.org/", "http://a.org/2", "http://a.org/3", "http://b.org/1"]);
  expect(frontier.found).toBe(4);
});

test("a frontier that is closed hands out nothing more, also to who waits already", async () => {
  const frontier = new Frontier(["a.org", "b.org"]);
  frontier.add("http://a.org/1");
  frontier.add("http://a.org/2");
  const a = frontier.of("a.org");
  expect(await a.next()).toEqual({ done: false, value: "http://a.org/1" });
  const waiting = frontier.of("b.org").next();
  frontier.close();
  expect(await Promise.all([waiting, a.next()])).toEqual([
    { done: true, value: undefined },
    { done: true, value: undefined },
  ]);
});
