/** A server answers one request with 429 and asks for a pause; other requests of the same client go on. */
import { setTimeout as sleep } from "node:timers/promises";

const RETRY_AFTER_SECS = 1;
/** All well within the pause that the server has asked for. */
const OTHERS = 5;
const EVERY_MS = 100;

export const faults = [
  {
    name: "only the request that got a 429 waits",
    contestants: [
      { library: "@octokit/plugin-throttling", module: "octokit", make: "client" },
      { library: "tidegate", module: "limiter", make: "client", setting: "RateLimiter.pause" },
    ],
    async probe(make) {
      let pausedUntil = 0;
      let requests = 0;
      let early = 0;
      const answer = async () => {
        requests += 1;
        if (requests === 1) {
          pausedUntil = performance.now() + RETRY_AFTER_SECS * 1000;
          const headers = { "retry-after": String(RETRY_AFTER_SECS), "content-type": "application/json" };
          return new Response('{"message":"You have exceeded a secondary rate limit."}', {
            status: 429,
            headers,
          });
        }
        // A retry that comes a timer's slack too early is no fault of this kind.
        if (performance.now() < pausedUntil - 20) early += 1;
        return new Response("{}", { status: 200, headers: { "content-type": "application/json" } });
      };
      const client = make(answer);
      const calls = [client.get("/first")];
      for (let call = 0; call < OTHERS; call += 1) {
        await sleep(EVERY_MS);
        calls.push(client.get(`/other-${String(call)}`));
      }
      await Promise.all(calls);
      return { early };
    },
    seen: ({ early }) => early > 0,
    figure: ({ early }) =>
      `${String(early)} of ${String(OTHERS)} others sent within the ${String(RETRY_AFTER_SECS)} s that the server asked for`,
  },
];
