/**
 * The column for the tokens that the worst window holds too many. One is as good as none: timers have a grain of 1 ms,
 * and a caller sees its grant a little later than it came.
 *
 * @type {import("./rows.mjs").Metric}
 */
export const OVERSHOOT = {
  key: "over",
  label: "tokens too many, worst window",
  better: "less",
  digits: 1,
  ratio: false,
  enough: 1,
};
