/**
 * @typedef {object} Metric One column of a table.
 * @property {string} key Where the measurement has its value.
 * @property {string} label
 * @property {"less" | "more" | "yes"} better Which value is the better one; "yes" for what is either so or not.
 * @property {number} [digits] Behind the point. Default 0.
 * @property {boolean} [ratio] Whether a ratio says more than a difference. Default true for "less".
 * @property {number} [enough] Every value that is at least this good counts as equally good.
 * @property {string} [onlyIf] Key of a metric: who is not good `enough` there has bought this value with it, and does
 *   not count as better.
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {import("./adapters.mjs").Group} of
 * @property {string} title
 * @property {string} how What is measured, for the page.
 * @property {string} [note] What a reader should know about the figures.
 * @property {number} rounds
 * @property {Metric[]} metrics
 * @property {(adapter: object) => unknown} [measure] Measures one adapter, in a process of its own. Gives the values by
 *   key; nothing when it prints them itself, later.
 * @property {(adapter: object) => unknown} [measureFromOutside] Instead of `measure`: for what a process cannot
 *   measure about itself.
 * @property {(import("./adapters.mjs").Adapter & { file: string })[]} [variants] More of tidegate, for comparison, in
 *   this row only; their names begin with "tidegate:".
 */

/** In the order of the page. */
export const ROW_NAMES = [
  "uncontended",
  "backlog",
  "memory",
  "accuracy",
  "aborts",
  "stall",
  "exit",
  "import",
  "size",
  "lookup",
  "after-await",
  "start-stop",
  "retry",
  "container-import",
  "container-size",
];

/** @returns {Promise<Row[]>} */
export async function loadRows() {
  return Promise.all(ROW_NAMES.map(loadRow));
}

/**
 * @param {string} name
 * @returns {Promise<Row>}
 */
export async function loadRow(name) {
  return { name, ...(await import(`./rows/${name}.mjs`)).default };
}
