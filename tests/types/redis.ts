// Checked by `npm run types`; never run.
import type * as ioredis6 from "ioredis";
import type * as ioredis5 from "ioredis-5";
import type * as iovalkey from "iovalkey";
import type * as redis6 from "redis";
import type * as redis5 from "redis-5";
import type { RedisClient } from "tidegate/redis";

declare function take(client: RedisClient): void;

declare const callers: [ioredis6.Redis, ioredis5.Redis, iovalkey.Redis];
declare const callingClusters: [ioredis6.Cluster, ioredis5.Cluster, iovalkey.Cluster];
take(callers[0]);
take(callers[1]);
take(callers[2]);
take(callingClusters[0]);
take(callingClusters[1]);
take(callingClusters[2]);

declare const clients: [ReturnType<typeof redis6.createClient>, ReturnType<typeof redis5.createClient>];
declare const pools: [ReturnType<typeof redis6.createClientPool>, ReturnType<typeof redis5.createClientPool>];
declare const clusters: [ReturnType<typeof redis6.createCluster>, ReturnType<typeof redis5.createCluster>];
take(clients[0]);
take(clients[1]);
take(pools[0]);
take(pools[1]);
take(clusters[0]);
take(clusters[1]);

take((args: string[]) => Promise.resolve(args));
take(async ([command = ""]) => Promise.resolve(command.length));

declare const sentinels: [ReturnType<typeof redis6.createSentinel>, ReturnType<typeof redis5.createSentinel>];
// @ts-expect-error a sentinel sends again by itself
take(sentinels[0]);
// @ts-expect-error in every version
take(sentinels[1]);
// @ts-expect-error an object without either method
take({});
