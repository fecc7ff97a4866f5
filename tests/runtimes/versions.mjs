// What the checks run on, from the npm registry. It is no dependency of the package: a gigabyte that few need.

const NODE = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;

/** Oldest supported first. */
export const NODES = ["20.9.0", "22", "24", "26"];
/** Oldest supported first. */
export const TYPESCRIPTS = ["5.4", "5.8", "6", "7"];

/** What is installed, by the name under which it is. */
export const PACKAGES = {
  ...Object.fromEntries(NODES.map((version) => [`node-${version}`, `npm:${NODE}@${version}`])),
  ...Object.fromEntries(TYPESCRIPTS.map((version) => [`typescript-${version}`, `npm:typescript@${version}`])),
  deno: "^2.9.6",
  bun: "^1.4.5",
  // The last one that Node.js 20 takes.
  miniflare: "4.20260426.0",
  // They run the suites where jest does not.
  "@vitest/runner": "^3.2.7",
  "@vitest/expect": "^3.2.7",
  "@vitest/spy": "^3.2.7",
  chai: "^5.3.3",
};
