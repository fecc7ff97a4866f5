import { setTimeout as pass } from "node:timers/promises";
import type { FaultRig } from "./redis-fault-rig.js";

/** What can happen to a store. */
export interface Fault {
  readonly name: string;
  /** Whether calls fail meanwhile; else callers notice nothing but the time. */
  readonly isOutage: boolean;
  /** Whether the buckets are new ones afterwards, and full. */
  readonly isFresh: boolean;
  readonly storeTimeoutMs: number;
  /** Whether it has begun before the limiters are made. */
  readonly isFirst?: boolean;
  readonly begin: (rig: FaultRig) => Promise<unknown>;
  readonly end: (rig: FaultRig) => Promise<unknown>;
}

const nothing = (): Promise<void> => Promise.resolve();
const stop = ({ server }: FaultRig): Promise<void> => server.stop();
const start = ({ server }: FaultRig): Promise<void> => server.start();

/** Longer than what a limiter has set aside lasts: then a call is on its way. */
const IN_MID_CALL_MS = 200;

export const FAULTS: readonly Fault[] = [
  {
    name: "a server that is not up yet",
    isOutage: true,
    isFresh: false,
    storeTimeoutMs: 300,
    isFirst: true,
    begin: stop,
    end: start,
  },
  {
    name: "a server that is killed and started again",
    isOutage: true,
    isFresh: true,
    storeTimeoutMs: 150,
    begin: stop,
    end: start,
  },
  {
    name: "SCRIPT FLUSH",
    isOutage: false,
    isFresh: false,
    storeTimeoutMs: 1000,
    begin: ({ admin }) => admin.script("FLUSH"),
    end: nothing,
  },
  {
    name: "FLUSHALL",
    isOutage: false,
    isFresh: true,
    storeTimeoutMs: 1000,
    begin: ({ admin }) => admin.flushall(),
    end: nothing,
  },
  {
    name: "CLIENT KILL in mid-call",
    isOutage: true,
    isFresh: false,
    storeTimeoutMs: 150,
    begin: async ({ admin }) => {
      await admin.call("CLIENT", "PAUSE", "10000", "WRITE");
      await pass(IN_MID_CALL_MS);
      await admin.call("CLIENT", "KILL", "TYPE", "normal");
    },
    end: ({ admin }) => admin.call("CLIENT", "UNPAUSE"),
  },
  {
    name: "a connection that is cut when the server has done what the call asked for",
    isOutage: true,
    isFresh: false,
    storeTimeoutMs: 150,
    begin: async ({ proxy }) => {
      proxy.isSwallowing = true;
      await pass(IN_MID_CALL_MS);
      proxy.cut();
    },
    end: ({ proxy }) => {
      proxy.isSwallowing = false;
      proxy.cut();
      return nothing();
    },
  },
  {
    name: "a replica that refuses writes",
    isOutage: true,
    isFresh: false,
    storeTimeoutMs: 1000,
    begin: ({ admin, server }) => admin.call("REPLICAOF", "127.0.0.1", String(server.port)),
    end: ({ admin }) => admin.call("REPLICAOF", "NO", "ONE"),
  },
  {
    name: "CLIENT PAUSE",
    isOutage: true,
    isFresh: false,
    storeTimeoutMs: 300,
    begin: ({ admin }) => admin.call("CLIENT", "PAUSE", "1500"),
    end: ({ admin }) => admin.ping(), // held until the pause is over
  },
  {
    name: "200 ms of latency",
    isOutage: false,
    isFresh: false,
    storeTimeoutMs: 1000,
    begin: ({ proxy }) => {
      proxy.delayMs = 100;
      return nothing();
    },
    end: nothing,
  },
  {
    name: "a client that never answers",
    isOutage: true,
    isFresh: false,
    storeTimeoutMs: 100,
    begin: (rig) => {
      rig.isMute = true;
      return nothing();
    },
    end: (rig) => {
      rig.isMute = false;
      return nothing();
    },
  },
];
