import { pRateLimit } from "p-ratelimit";

export function perWindow({ limit, windowMs }) {
  const limited = pRateLimit({ rate: limit, interval: windowMs });
  return { run: (job) => limited(async () => job()) };
}
