/**
 * `npm run picture`: lets one backlog through tidegate and peers, all in one run, and draws what was granted when against the
 * bound, as docs/images/backlog.svg.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { overshoot } from "../support/grants.mjs";
import { outputOf } from "../support/node-process.mjs";
import { ensurePeers, ownVersion, peerVersion } from "../support/peers.mjs";
import { draw } from "./draw.mjs";

const CHILD = fileURLToPath(new URL("child.mjs", import.meta.url));
const PICTURE = fileURLToPath(new URL("../../docs/images/backlog.svg", import.meta.url));

const RATE = 20;
const BURST = 20;
const CALLERS = 100;
/** From a first single call to the backlog: by then a bucket is full again, and a window of a second not over yet. */
const AFTER_MS = 900;
/** What the picture shows of the time. */
const FOR_MS = 6_000;
/** Timers have a grain of 1 ms: what is less than half a token is none. */
const GRAIN = 0.5;

const PEERS = ["p-throttle", "bottleneck", "rate-limiter-flexible"];

ensurePeers();
const files = [
  { label: ownVersion(), path: "../versus/limiters/tidegate.mjs" },
  ...PEERS.map((name) => ({ label: peerVersion(name), path: `../peers/limiters/${name}.mjs` })),
];
const panels = [];
for (const { label, path } of files) {
  const file = new URL(path, import.meta.url).href;
  const settings = JSON.stringify({ rate: RATE, burst: BURST, callers: CALLERS, afterMs: AFTER_MS });
  const times = JSON.parse(await outputOf(CHILD, [file, settings]));
  panels.push({ title: label, caption: captionOf(times), times });
  console.log(`${label}: ${captionOf(times)}`);
}
const title = `${CALLERS} callers at once; ${RATE} a second, ${BURST} at once: grants (line) and the bound (dashed)`;
writeFileSync(PICTURE, draw(panels, { rate: RATE, burst: BURST, callers: CALLERS, forMs: FOR_MS, title }));

function captionOf(times) {
  const over = overshoot(times, RATE, BURST);
  const worst = over < GRAIN ? "never above the bound" : `worst window ${over.toFixed(1)} above the bound`;
  return `${worst}, done after ${(times.at(-1) / 1000).toFixed(1)} s`;
}
