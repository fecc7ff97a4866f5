import Bottleneck from "bottleneck";
import { Redis } from "ioredis";

export default {
  uses: "`schedule(task)` with `minTime`, which knows no burst; a `reservoir` where nobody is to wait",
  async create({ port, rate, burst, waits }) {
    const speed = waits
      ? { minTime: 1000 / rate }
      : { reservoir: burst, reservoirRefreshAmount: burst, reservoirRefreshInterval: (burst / rate) * 1000 };
    const limiter = new Bottleneck({
      ...speed,
      datastore: "ioredis",
      id: "bench",
      Redis,
      clientOptions: { port, host: "127.0.0.1" },
    });
    await limiter.ready();
    return () => limiter.schedule(async () => undefined);
  },
};
