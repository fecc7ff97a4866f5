import { ownVersion, peerVersion } from "../../support/peers.mjs";

/**
 * @typedef {object} Contestant
 * @property {string} library What it is installed as, or "tidegate".
 * @property {string} [module] The file that drives it, where it is not called as the library.
 * @property {string} [make] The function of that file that makes what the probe needs.
 * @property {string} [setting] How it is set, for the reader.
 * @property {string} [notRun] Why it cannot be run. It then needs no module.
 */

/** @param {Contestant} contestant */
export function isOurs({ library }) {
  return library === "tidegate";
}

/** The file that drives a contestant. A peer can be imported from bench/peers only, tidegate from outside only. */
export function moduleOf(contestant) {
  const folder = isOurs(contestant) ? "../tidegate" : "../../peers/faults";
  return new URL(`${folder}/${contestant.module ?? contestant.library}.mjs`, import.meta.url).href;
}

/** Name, version and setting, as printed. */
export function labelOf(contestant) {
  const { setting } = contestant;
  return setting === undefined ? nameOf(contestant) : `${nameOf(contestant)}, ${setting}`;
}

function nameOf(contestant) {
  if (isOurs(contestant)) return ownVersion();
  // What is no package for Node.js has no version here.
  return contestant.make === undefined ? contestant.library : peerVersion(contestant.library);
}
