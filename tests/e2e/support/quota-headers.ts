import type { ServiceQuota } from "./quota.js";

/** Whose headers a service speaks. */
export type HeaderStyle = "openai" | "anthropic" | "github" | "ietf";

export interface Quotas {
  readonly requests: ServiceQuota;
  readonly tokens: ServiceQuota;
}

/**
 * What a service of that style says of its quotas with every answer, and of the wait when it refuses.
 *
 * @param waitMs - How long a refused request has to wait; undefined for one that was served.
 */
export function quotaHeaders(
  style: HeaderStyle,
  quotas: Quotas,
  waitMs: number | undefined,
): Record<string, string> {
  switch (style) {
    case "openai":
      return {
        ...perDimension(quotas, (name, { allowance, remaining, fullInMs }) => ({
          [`x-ratelimit-limit-${name}`]: String(allowance.burst),
          [`x-ratelimit-remaining-${name}`]: String(remaining),
          [`x-ratelimit-reset-${name}`]: goDuration(fullInMs),
        })),
        ...(waitMs === undefined ? {} : { "retry-after-ms": String(Math.ceil(waitMs)) }),
      };
    case "anthropic":
      return {
        ...perDimension(quotas, (name, { allowance, remaining, fullInMs }) => ({
          [`anthropic-ratelimit-${name}-limit`]: String(allowance.burst),
          [`anthropic-ratelimit-${name}-remaining`]: String(remaining),
          [`anthropic-ratelimit-${name}-reset`]: new Date(Date.now() + fullInMs).toISOString(),
        })),
        ...(waitMs === undefined ? {} : { "retry-after": String(Math.ceil(waitMs / 1000)) }),
      };
    case "github":
      return {
        "x-ratelimit-limit": String(quotas.requests.allowance.burst),
        "x-ratelimit-remaining": String(Math.floor(quotas.requests.level)),
        // Whole seconds since 1970, of the moment when there is more.
        "x-ratelimit-reset": String(Math.ceil((Date.now() + quotas.requests.waitMs(1)) / 1000)),
        "x-ratelimit-resource": "core",
      };
    case "ietf": {
      const { allowance, level } = quotas.requests;
      const seconds = Math.ceil(quotas.requests.waitMs(1) / 1000);
      return {
        "ratelimit-policy": `"burst";q=${String(allowance.burst)};w=1`,
        ratelimit: `"burst";r=${String(Math.floor(level))};t=${String(seconds)}`,
      };
    }
  }
}

interface Told {
  readonly allowance: ServiceQuota["allowance"];
  readonly remaining: number;
  readonly fullInMs: number;
}

function perDimension(
  quotas: Quotas,
  tell: (name: string, told: Told) => Record<string, string>,
): Record<string, string> {
  const told = Object.entries(quotas as unknown as Record<string, ServiceQuota>).map(([name, quota]) =>
    tell(name, {
      allowance: quota.allowance,
      remaining: Math.max(0, Math.floor(quota.level)),
      fullInMs: quota.waitMs(quota.allowance.burst),
    }),
  );
  return Object.assign({}, ...told) as Record<string, string>;
}

/** As Go prints it: `12ms` below a second, else `1m2.5s`. */
function goDuration(ms: number): string {
  if (ms < 1000) return `${String(Math.round(ms))}ms`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = String(Math.round(ms - minutes * 60_000) / 1000);
  return minutes === 0 ? `${seconds}s` : `${String(minutes)}m${seconds}s`;
}
