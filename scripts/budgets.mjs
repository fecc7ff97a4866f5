/**
 * What an import may cost a user: bytes of the minified, gzipped bundle.
 *
 * @typedef {object} Budget
 * @property {string} name How the table calls it.
 * @property {string} program What the user writes.
 * @property {"neutral" | "node"} platform Where the bundle is for.
 * @property {number} maxBytes Most bytes, gzipped.
 */

/** @type {readonly Budget[]} */
export const budgets = [
  {
    name: "{ RateLimiter } of tidegate/rate-limit",
    program: `export { RateLimiter } from "tidegate/rate-limit";`,
    platform: "neutral",
    maxBytes: 6_350,
  },
  {
    name: "all of tidegate/rate-limit",
    program: `export * from "tidegate/rate-limit";`,
    platform: "neutral",
    maxBytes: 8_250,
  },
  {
    name: "all of tidegate",
    program: `export * from "tidegate";`,
    platform: "node",
    maxBytes: 31_000,
  },
  {
    name: "all of tidegate/fetch",
    program: `export * from "tidegate/fetch";`,
    platform: "node",
    maxBytes: 7_000,
  },
  {
    name: "all of tidegate/opentelemetry",
    program: `export * from "tidegate/opentelemetry";`,
    platform: "node",
    maxBytes: 3_500,
  },
  {
    name: "all of tidegate/diagnostics-channel",
    program: `export * from "tidegate/diagnostics-channel";`,
    platform: "node",
    maxBytes: 1_550,
  },
  {
    name: "all of tidegate/redis",
    program: `export * from "tidegate/redis";`,
    platform: "neutral",
    maxBytes: 14_000,
  },
];
