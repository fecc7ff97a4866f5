import type { Clock } from "../clock.js";
import type { RatedBucket } from "../rate-limit/bucket/rated-bucket.js";
import type { LocalMeter } from "../rate-limit/line/meter.js";
import type { Outage } from "./outage.js";
import type { Amounts, Store } from "./store.js";

export interface RedisMeterPlan<C> {
  readonly store: Store;
  readonly outage: Outage;
  readonly clock: Clock;
  /**
   * What one process alone may have, buckets of the same rates. They put off what answers and timers that are late would
   * bring too close together, and they are what this process has had when the store has lost it.
   */
  readonly own: LocalMeter<C>;
  /** Those buckets, one for each dimension, in the order of the amounts. */
  readonly buckets: readonly RatedBucket[];
  readonly amountsOf: (cost: C) => Amounts;
  /** Whether those who wait are told of a failure; else they wait until the store is back. */
  readonly isImpatient: boolean;
}
