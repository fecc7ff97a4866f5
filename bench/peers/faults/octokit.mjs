import { Octokit } from "@octokit/core";
import { throttling } from "@octokit/plugin-throttling";

const Throttled = Octokit.plugin(throttling);

/** A client that repeats what the server has put off. */
export function client(fetch) {
  const octokit = new Throttled({
    request: { fetch },
    throttle: { onRateLimit: () => true, onSecondaryRateLimit: () => true },
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  return { get: (path) => octokit.request(`GET ${path}`) };
}
