import { shareOf } from "../support/hash.js";
import type { QuotaRate } from "../support/quota.js";
import { type Host, type HostedPage, type HostTally, startHost } from "./host.js";
import { type PlannedPage, planSite } from "./site-plan.js";

/** The shortest and the longest time that a page takes which is not slow, in milliseconds. */
const FASTEST_MS = 5;
const SLOWEST_MS = 25;

export interface SiteOptions {
  readonly pages: number;
  readonly hosts: number;
  readonly seed: number;
  /** How long a slow page takes, in milliseconds. */
  readonly slowMs: number;
  /** What each host allows. */
  readonly quota: QuotaRate;
}

export interface Site extends AsyncDisposable {
  /** A page from which all others are reached. */
  readonly url: string;
  /** As they stand in URLs. */
  readonly hosts: readonly string[];
  tally(): readonly HostTally[];
}

/** A site of linked pages, spread over several hosts. */
export async function startSite({ pages, hosts, seed, slowMs, quota }: SiteOptions): Promise<Site> {
  const plan = planSite(pages, seed);
  const servers: Host[] = [];

  const linkTo = (page: number): string => new URL(pathOf(page, plan), servers[page % hosts]?.url).href;
  const hosted = ({ kind, links }: PlannedPage, page: number): HostedPage => ({
    delayMs:
      kind === "slow" ? slowMs : FASTEST_MS + (SLOWEST_MS - FASTEST_MS) * shareOf(`time of ${String(page)}`),
    html: () => (kind === "broken" ? undefined : htmlOf(page, links.map(linkTo))),
  });

  const all = plan.map((planned, page) => [pathOf(page, plan), hosted(planned, page)] as const);
  for (let host = 0; host < hosts; host += 1) {
    servers.push(await startHost(new Map(all.filter((_, page) => page % hosts === host)), quota));
  }
  const tally = (): readonly HostTally[] => servers.map((server) => server.tally());
  return {
    url: linkTo(0),
    hosts: tally().map(({ host }) => host),
    tally,
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
    },
  };
}

/** Says what kind of page it is, for people; a crawler learns it from the answer. */
function pathOf(page: number, plan: readonly PlannedPage[]): string {
  return `/${plan[page]?.kind ?? ""}/${String(page)}`;
}

function htmlOf(page: number, links: readonly string[]): string {
  const items = links.map(
    (link, index) => `<li><a href="${link}${index === 0 ? "#top" : ""}">${link}</a></li>`,
  );
  return `<!doctype html><title>Page ${String(page)}</title><ul>${items.join("\n")}</ul>`;
}
