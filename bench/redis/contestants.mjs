import { ownVersion, peerVersion } from "../support/peers.mjs";

/** The files that drive a limiter over a Redis server: `create({ port, rate, burst, waits })` makes what takes a token. */
const FILES = ["bottleneck", "rate-limiter-flexible", "effect", "upstash"];

/**
 * @typedef {object} Contestant
 * @property {string} file
 * @property {string} label Name and version.
 * @property {string} uses Which part of the library, and how it is set.
 */

/** @returns {Promise<Contestant[]>} The first is tidegate. */
export async function contestants() {
  const ours = { file: "tidegate", label: ownVersion(), uses: (await driverOf("tidegate")).uses };
  const peers = FILES.map(async (file) => {
    const { library = file, uses } = await driverOf(file);
    return { file, label: peerVersion(library), uses };
  });
  return [ours, ...(await Promise.all(peers))];
}

/** A peer can be imported from bench/peers only, tidegate from outside only. */
export async function driverOf(file) {
  const url = file === "tidegate" ? "./ours.mjs" : `../peers/redis/${file}.mjs`;
  return (await import(url)).default;
}
