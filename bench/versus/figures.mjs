import { median } from "../support/statistics.mjs";

/** @typedef {import("./rows.mjs").Metric} Metric */
/** @typedef {import("./measure.mjs").Cell} Cell */

/** The values that a contestant has for a metric, by round; empty when it has none. */
export function valuesOf({ rounds }, { key }) {
  return rounds.map((values) => values[key]).filter((value) => value !== undefined);
}

/** Whether the page shows a ratio to tidegate for a metric. */
export function hasRatio({ better, ratio = better === "less" }) {
  return ratio;
}

/** @returns {string} The median, and the least and most when there was more than one round. */
export function figure(cell, metric) {
  const values = valuesOf(cell, metric);
  if (values.length === 0) return "";
  if (metric.better === "yes") return values.every(Boolean) ? "yes" : "no";
  const text = (value) => plain(value, metric);
  if (values.length === 1) return text(values[0]);
  return `${text(median(values))} (${text(Math.min(...values))} to ${text(Math.max(...values))})`;
}

/** How many times as much as tidegate: the median of one over the median of the other. */
export function ratioTo(ours, cell, metric) {
  return median(valuesOf(cell, metric)) / median(valuesOf(ours, metric));
}

/**
 * How far tidegate is behind a peer, in words; undefined when it is not. What looks the same in the table is the same.
 *
 * @param {Cell} ours
 * @param {Cell} theirs
 * @param {import("./rows.mjs").Row} row
 * @param {Metric} metric
 * @returns {string | undefined}
 */
export function lag(ours, theirs, row, metric) {
  const [mine, other] = [valuesOf(ours, metric), valuesOf(theirs, metric)];
  if (mine.length === 0 || other.length === 0 || hasPaidElsewhere(theirs, row, metric)) return undefined;
  if (metric.better === "yes") {
    return other.every(Boolean) && !mine.every(Boolean) ? "no against yes" : undefined;
  }
  const [worse, better] = metric.better === "less" ? [mine, other] : [other, mine];
  const lead =
    rounded(counted(median(worse), metric), metric) - rounded(counted(median(better), metric), metric);
  if (lead <= 0 || (hasRatio(metric) && ratioTo(ours, theirs, metric) > 0.995)) return undefined;
  const overlap = Math.min(...worse) <= Math.max(...better) ? "; the rounds overlap" : "";
  const ratio = hasRatio(metric) ? `, ${ratioTo(ours, theirs, metric).toFixed(2)} times as much` : "";
  return `${plain(median(mine), metric)} against ${plain(median(other), metric)}${ratio}${overlap}`;
}

function hasPaidElsewhere(cell, { metrics }, { onlyIf }) {
  if (onlyIf === undefined) return false;
  const price = metrics.find(({ key }) => key === onlyIf);
  return counted(median(valuesOf(cell, price)), price) !== price.enough;
}

/** A value as it counts: everything that is good enough is equally good. */
function counted(value, { better, enough }) {
  if (enough === undefined) return value;
  return better === "less" ? Math.max(value, enough) : Math.min(value, enough);
}

function rounded(value, { digits = 0 }) {
  return Number(value.toFixed(digits));
}

function plain(value, { digits = 0 }) {
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return (rounded(value, { digits }) + 0).toLocaleString("en", format); // + 0: there is no -0.0 in a table
}
