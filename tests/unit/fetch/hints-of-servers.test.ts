import { expect, test } from "@jest/globals";
import { readWaitMs } from "../../../src/fetch/hints/hint.js";

const NOW = Date.UTC(2026, 0, 31, 12, 0, 0);

function read(headers: Record<string, string>): number | undefined {
  return readWaitMs(new Headers(headers), () => NOW);
}

test.each<[string, Record<string, string>, number | undefined]>([
  ["seconds", { "retry-after": "120" }, 120_000],
  ["a date", { "retry-after": "Sat, 31 Jan 2026 12:00:30 GMT" }, 30_000],
  [
    "a date by the clock of the server",
    {
      date: "Wed, 21 Oct 2015 07:28:00 GMT",
      "retry-after": "Wed, 21 Oct 2015 07:29:00 GMT",
    },
    60_000,
  ],
  ["OpenAI: milliseconds", { "retry-after-ms": "1234.5", "retry-after": "2" }, 1_234.5],
  [
    "OpenAI: no tokens are left",
    {
      "x-ratelimit-limit-requests": "60",
      "x-ratelimit-limit-tokens": "150000",
      "x-ratelimit-remaining-requests": "59",
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-reset-tokens": "6m0s",
    },
    360_000,
  ],
  [
    "OpenAI: another quota",
    {
      "x-ratelimit-remaining-tokens_usage_based": "0",
      "x-ratelimit-reset-tokens_usage_based": "120ms",
    },
    120,
  ],
  [
    "OpenAI: something is left of all",
    {
      "x-ratelimit-remaining-requests": "59",
      "x-ratelimit-remaining-tokens": "149984",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-reset-tokens": "6m0s",
    },
    undefined,
  ],
  [
    "Groq",
    {
      "retry-after": "2",
      "x-ratelimit-remaining-requests": "14370",
      "x-ratelimit-remaining-tokens": "17997",
      "x-ratelimit-reset-requests": "2m59.56s",
      "x-ratelimit-reset-tokens": "7.66s",
    },
    2_000,
  ],
  [
    "plain seconds under those names",
    {
      "x-ratelimit-remaining-tokens": "0",
      "x-ratelimit-reset-tokens": "7.66",
    },
    7_660,
  ],
  [
    "Anthropic",
    {
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "0",
      "anthropic-ratelimit-requests-reset": "2026-01-31T12:00:12Z",
      "anthropic-ratelimit-input-tokens-remaining": "20000",
      "anthropic-ratelimit-input-tokens-reset": "2026-01-31T12:01:00Z",
    },
    12_000,
  ],
  [
    "Anthropic: one limit over all",
    {
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": String(NOW / 1_000 + 90),
    },
    90_000,
  ],
  [
    "GitHub: the first limit",
    {
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-used": "60",
      "x-ratelimit-resource": "core",
      "x-ratelimit-reset": String(NOW / 1_000 + 45),
    },
    45_000,
  ],
  [
    "GitHub: the second limit",
    {
      "retry-after": "60",
      "x-ratelimit-remaining": "4999",
      "x-ratelimit-reset": String(NOW / 1_000 + 3_000),
    },
    60_000,
  ],
  [
    "Discord",
    {
      "x-ratelimit-limit": "5",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": "1470173023.123",
      "x-ratelimit-reset-after": "64.5",
      "x-ratelimit-bucket": "abcd1234",
    },
    64_500,
  ],
  [
    "Discord, something is left",
    {
      "x-ratelimit-remaining": "1",
      "x-ratelimit-reset": String(NOW / 1_000 + 5),
      "x-ratelimit-reset-after": "5.0",
    },
    undefined,
  ],
  [
    "drafts up to the sixth",
    {
      "ratelimit-limit": "100",
      "ratelimit-remaining": "0",
      "ratelimit-reset": "50",
    },
    50_000,
  ],
  ["the seventh draft", { ratelimit: "limit=100, remaining=0, reset=30" }, 30_000],
  ["the seventh draft, something is left", { ratelimit: "limit=100, remaining=50, reset=30" }, undefined],
  ["the drafts since", { ratelimit: '"default";r=0;t=30' }, 30_000],
  [
    "the drafts since, two policies",
    {
      "ratelimit-policy": '"burst";q=100;w=60,"daily";q=1000;w=86400',
      ratelimit: '"burst";r=0;t=20;pk=:cHNsZWFzZQ==:, "daily";r=120;t=3600',
    },
    20_000,
  ],
  ["the drafts since, without a time", { ratelimit: '"default";r=0' }, undefined],
])("%s", (_, headers, waitMs) => {
  expect(read(headers)).toBe(waitMs);
});
