import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The libraries that others are measured against live in a package of their own, with a lock of its own. */
const PEERS = new URL("../peers/", import.meta.url);
const LOCK = new URL("package-lock.json", PEERS);
/** What npm writes down about what it has installed. */
const INSTALLED = new URL("node_modules/.package-lock.json", PEERS);

/** Installs the peers when they are missing or are not those of the lock, and says so. */
export function ensurePeers() {
  if (isInstalled()) return;
  console.log("Installing the peers: npm ci --prefix bench/peers");
  const args = ["ci", "--prefix", fileURLToPath(PEERS), "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", args, { stdio: ["ignore", "ignore", "inherit"] });
}

/** The name and the version of tidegate. */
export function ownVersion() {
  return nameAndVersion(new URL("../../package.json", import.meta.url));
}

/** The name and the version of a peer, by the name under which it is installed: "p-queue-9" is p-queue 9. */
export function peerVersion(name) {
  return nameAndVersion(new URL(`node_modules/${name}/package.json`, PEERS));
}

function nameAndVersion(file) {
  const { name, version } = JSON.parse(readFileSync(file, "utf8"));
  return `${name} ${version}`;
}

function isInstalled() {
  if (!existsSync(INSTALLED)) return false;
  const installed = packagesOf(INSTALLED);
  return Object.entries(packagesOf(LOCK)).every(
    ([path, { version, optional }]) =>
      path === "" || optional === true || installed[path]?.version === version,
  );
}

function packagesOf(lock) {
  return JSON.parse(readFileSync(lock, "utf8")).packages;
}
