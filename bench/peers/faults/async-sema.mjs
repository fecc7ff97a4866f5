import { RateLimit } from "async-sema";

export function perWindow({ limit, windowMs }) {
  return runner(RateLimit(limit, { timeUnit: windowMs }));
}

export function perSecond({ rate }) {
  return runner(RateLimit(rate));
}

function runner(acquire) {
  return {
    async run(job) {
      await acquire();
      return job();
    },
  };
}
