import pThrottle from "p-throttle";

export function windowed({ limit, windowMs }) {
  return runner({ limit, interval: windowMs });
}

export function strict({ limit, windowMs }) {
  return runner({ limit, interval: windowMs, strict: true });
}

function runner(options) {
  // The signal belongs to the whole throttle.
  const controller = new AbortController();
  const throttle = pThrottle({ ...options, signal: controller.signal });
  const throttled = throttle(async (job) => job());
  return {
    run: throttled,
    abortWaiters() {
      controller.abort(new Error("aborted"));
    },
  };
}
