import { shareOf } from "../support/hash.js";

/** What becomes of a request: an answer soon, an answer late, or a 500. */
export type PageKind = "page" | "slow" | "broken";

export interface PlannedPage {
  readonly kind: PageKind;
  /** The numbers of the pages that it links to; some twice. */
  readonly links: number[];
}

const SLOW_SHARE = 0.01;
const BROKEN_SHARE = 0.02;

/** Links of each page to anywhere, beside those that make every page reachable. */
const STRAY_LINKS = 3;

/** The pages of a site, the same for the same seed. From page 0 every page is reached over pages that answer soon. */
export function planSite(pages: number, seed: number): readonly PlannedPage[] {
  const plan = Array.from({ length: pages }, (_, page): PlannedPage => {
    const links = Array.from({ length: STRAY_LINKS }, (__, link) =>
      Math.floor(pages * shareOf(`${String(seed)}: link ${String(link)} of ${String(page)}`)),
    );
    return { kind: kindOf(page, seed), links };
  });
  for (let page = 1; page < pages; page += 1) {
    let parent = Math.floor(page * shareOf(`${String(seed)}: parent of ${String(page)}`));
    while (plan[parent]?.kind !== "page") parent -= 1;
    plan[parent]?.links.push(page);
  }
  return plan;
}

function kindOf(page: number, seed: number): PageKind {
  const share = page === 0 ? 1 : shareOf(`${String(seed)}: kind of ${String(page)}`);
  if (share < SLOW_SHARE) return "slow";
  return share < SLOW_SHARE + BROKEN_SHARE ? "broken" : "page";
}
