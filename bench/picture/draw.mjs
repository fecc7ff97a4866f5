const WIDTH = 960;
const PANEL = { width: 440, height: 250, left: 44, top: 52, right: 14, bottom: 34 };
const COLUMNS = 2;
const HEAD = 64;
const COLOURS = { card: "#10293c", text: "#eef4f8", quiet: "#a9bccb", bound: "#ffc857", grants: "#3ddbc4" };

/**
 * @typedef {object} Panel
 * @property {string} title
 * @property {string} caption
 * @property {number[]} times Of the grants, in milliseconds, in order.
 */

/**
 * Grants against the bound, one panel for each library.
 *
 * @param {Panel[]} panels
 * @param {{ rate: number, burst: number, callers: number, title: string, forMs: number }} settings
 */
export function draw(panels, settings) {
  const rows = Math.ceil(panels.length / COLUMNS);
  const height = HEAD + rows * (PANEL.height + 16) + 12;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="system-ui, sans-serif" font-size="15" fill="${COLOURS.text}">`,
    `<title>${settings.title}</title>`,
    `<rect width="${WIDTH}" height="${height}" rx="12" fill="${COLOURS.card}"/>`,
    `<text x="28" y="40" font-size="18">${settings.title}</text>`,
    ...panels.map((panel, index) => {
      const x = 24 + (index % COLUMNS) * (PANEL.width + 32);
      const y = HEAD + Math.floor(index / COLUMNS) * (PANEL.height + 16);
      return `<g transform="translate(${x} ${y})">\n${panelOf(panel, settings)}\n</g>`;
    }),
    "</svg>\n",
  ].join("\n");
}

function panelOf({ title, caption, times }, { rate, burst, callers, forMs }) {
  const { width, height, left, top, right, bottom } = PANEL;
  const at = (ms) => round(left + (ms / forMs) * (width - left - right));
  const count = (value) => round(height - bottom - (value / callers) * (height - top - bottom));
  const untilMs = Math.min(forMs, ((callers - burst) * 1000) / rate);
  const steps = times
    .filter((time) => time <= forMs)
    .map((time, index) => `H${at(time)}V${count(index + 1)}`)
    .join("");
  const end = times.at(-1) <= forMs ? "" : `H${at(forMs)}`;
  const seconds = Array.from({ length: Math.floor(forMs / 1000) + 1 }, (_, second) => second);
  return [
    `<text x="${left}" y="20">${title}</text>`,
    `<text x="${left}" y="40" font-size="13" fill="${COLOURS.quiet}">${caption}</text>`,
    `<path d="M${left} ${top}V${height - bottom}H${width - right}" fill="none" stroke="${COLOURS.quiet}"/>`,
    ...seconds.map(
      (second) =>
        `<text x="${at(second * 1000)}" y="${height - bottom + 20}" text-anchor="middle" font-size="13" fill="${COLOURS.quiet}">${second} s</text>`,
    ),
    ...[0, callers].map(
      (value) =>
        `<text x="${left - 8}" y="${count(value) + 5}" text-anchor="end" font-size="13" fill="${COLOURS.quiet}">${value}</text>`,
    ),
    `<path d="M${at(0)} ${count(0)}${steps}${end}" fill="none" stroke="${COLOURS.grants}" stroke-width="2"/>`,
    `<path d="M${at(0)} ${count(burst)}L${at(untilMs)} ${count(callers)}" fill="none" stroke="${COLOURS.bound}" stroke-width="2" stroke-dasharray="6 5"/>`,
  ].join("\n");
}

function round(value) {
  return Math.round(value * 10) / 10;
}
