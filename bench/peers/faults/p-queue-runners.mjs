/** What both versions of p-queue are driven by. */
export function runners(PQueue) {
  const runner = (options) => {
    const queue = new PQueue(options);
    return { run: (job) => queue.add(async () => job()) };
  };
  return {
    fixed: ({ limit, windowMs }) => runner({ intervalCap: limit, interval: windowMs }),
    strict: ({ limit, windowMs }) => runner({ intervalCap: limit, interval: windowMs, strict: true }),
  };
}
