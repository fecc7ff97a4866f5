import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import { ensurePeers, ownVersion, peerVersion } from "../support/peers.mjs";
import { machine } from "../support/machine.mjs";
import { adaptersOf } from "./adapters.mjs";
import { measureRow } from "./measure.mjs";
import { contestantsReport, lagReport, rowReport } from "./report.mjs";
import { loadRows } from "./rows.mjs";
import { randomNumbers } from "./shuffle.mjs";

const PAGE = fileURLToPath(new URL("../../docs/comparison.md", import.meta.url));
const HEADINGS = { limiters: "Rate limiters", containers: "Context and containers" };

/**
 * Measures tidegate and its peers, prints the tables, and writes them as a page of the docs when all rows were run.
 *
 * @param {string[]} names Rows to run; all when empty.
 * @param {number} seed Decides the order in which contestants take their turns.
 */
export async function compare(names, seed) {
  ensurePeers();
  const rows = await loadRows();
  const random = randomNumbers(seed);
  const results = [];
  for (const row of rows.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const adapters = [...(await adaptersOf(row.of)), ...(row.variants ?? [])];
    const result = { row, cells: await measureRow(row, adapters, random) };
    results.push(result);
    console.log(`\n${await tidy(rowReport(result))}`);
  }
  if (names.length > 0) {
    console.log(`\n${lagReport(results)}`);
    return;
  }
  writeFileSync(PAGE, await tidy(await page(results, seed)));
  console.log("\ndocs/comparison.md is written.");
}

async function page(results, seed) {
  const parts = await Promise.all(
    Object.entries(HEADINGS).map(async ([group, heading]) => [
      `## ${heading}`,
      contestantsReport(
        (await adaptersOf(group)).map((adapter) => ({ ...adapter, version: versionOf(adapter) })),
      ),
      ...results.filter(({ row }) => row.of === group).map(rowReport),
    ]),
  );
  const date = new Date().toISOString().slice(0, 10);
  return [
    "# Comparison",
    `Measured on ${date}: ${machine()}. \`npm run bench\` measures it again and rewrites this page.`,
    "Each figure comes from a process of its own; in each round the contestants take turns in another order (seed " +
      `${String(seed)}). A ratio is how many times as much as tidegate: above 1 tidegate is ahead. "cannot" means that ` +
      "the library has nothing for the job, or did not get it done; the reason stands below the table. Who takes more than 5 s " +
      "for a round is measured once. Every yes and no " +
      "was observed in the run.",
    ...parts.flat(),
    lagReport(results),
  ].join("\n\n");
}

function versionOf({ name }) {
  return name === "tidegate" ? ownVersion() : peerVersion(name);
}

/** As `npm run format` wants it. */
function tidy(markdown) {
  return format(markdown, { parser: "markdown", printWidth: 110 });
}
