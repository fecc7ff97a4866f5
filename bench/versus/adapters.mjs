/**
 * @typedef {object} Adapter How one library is used.
 * @property {string} name What the tables call it.
 * @property {string} entry Address of the file that a user's import loads.
 * @property {string} program What is bundled for its size: an export of what the adapter uses, nothing else.
 * @property {string} uses Which part of it does the job, as Markdown.
 * @property {Record<string, string>} cannot For each row that it cannot be measured in: why.
 *
 * @typedef {object} Shape A rate, and who asks for it.
 * @property {number} rate Permits a second.
 * @property {number} burst Permits at once. A library that knows only "n in an interval" takes `burst` in
 *   `burst / rate` seconds, which is the same rate.
 * @property {boolean} waits Whether callers will have to wait. Some libraries need another part of them for that.
 *
 * @typedef {object} LimiterOnly
 * @property {"permits" | "tasks"} grants What a call gets: a permit, or its task run.
 * @property {(shape: Shape, task: () => Promise<void>) => Call | Promise<Call>} create The limiter, full. A limiter that
 *   grants permits has no use for `task`.
 * @typedef {(signal?: AbortSignal) => Promise<unknown>} Call
 * @typedef {Adapter & LimiterOnly} LimiterAdapter
 *
 * @typedef {object} Resource
 * @property {string} name
 * @property {(before: unknown) => unknown} open Makes it out of the resource before it.
 * @property {(value: unknown) => void} close
 *
 * @typedef {object} ContainerOnly
 * @property {(value: { n: number }, how: { ambient: boolean }) => Opened | Promise<Opened>} open Provides a value.
 *   `ambient`: code shall find it without being handed anything.
 * @property {(resources: Resource[]) => Promise<void>} [startAndStop] Builds all of them, each out of the one before,
 *   and closes them.
 * @property {(build: () => Promise<unknown>) => () => Promise<unknown>} [asyncValue] Provides what `build` gives;
 *   returns how to ask for it.
 * @typedef {{ lookUp: (count: number, afterAwait: boolean) => number | Promise<number> }} Opened
 * @typedef {Adapter & ContainerOnly} ContainerAdapter
 */

/** Files by group; the first is what all others are compared to. */
const FILES = {
  limiters: [
    "./limiters/tidegate.mjs",
    "../peers/limiters/async-sema.mjs",
    "../peers/limiters/bottleneck.mjs",
    "../peers/limiters/effect.mjs",
    "../peers/limiters/limiter.mjs",
    "../peers/limiters/p-queue.mjs",
    "../peers/limiters/p-ratelimit.mjs",
    "../peers/limiters/p-throttle.mjs",
    "../peers/limiters/rate-limiter-flexible.mjs",
    "../peers/limiters/tanstack-pacer.mjs",
  ],
  containers: [
    "./containers/tidegate.mjs",
    "../peers/containers/awilix.mjs",
    "../peers/containers/effect.mjs",
    "../peers/containers/inversify.mjs",
    "../peers/containers/iti.mjs",
    "../peers/containers/needle-di.mjs",
    "../peers/containers/typed-inject.mjs",
    "../peers/containers/unctx.mjs",
  ],
};

/** @typedef {keyof typeof FILES} Group */

/**
 * Loads the adapters of a group, and with them the libraries.
 *
 * @param {Group} group
 * @returns {Promise<(Adapter & { file: string })[]>}
 */
export async function adaptersOf(group) {
  return Promise.all(
    FILES[group].map(async (path) => {
      const file = new URL(path, import.meta.url).href;
      return { file, ...(await import(file)).default };
    }),
  );
}
