import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Environment } from "../../../../src/lifespan/index.js";
import { fn, map, mount, mountEach } from "../../../../src/pipeline/index.js";
import { begin, entries, gate, Gates, Heard, Load, range, running, settle, stateOf, tick } from "./set-up.js";

let environment: Environment;
let heard: Heard;
beforeEach(async () => {
  heard = new Heard();
  environment = await running("test", (builder) => {
    builder.setExceptionHandler(heard.handler);
  });
});
afterEach(async () => {
  await environment.stop();
  expect(heard.errors).toEqual([]); // an expectation that fails in mounted work comes here
});

async function* later<T>(items: T[]): AsyncGenerator<T> {
  for (const item of items) {
    await tick();
    yield item;
  }
}

describe("the slots of the run", () => {
  test("bound mounted items and items of map together; main holds none", async () => {
    const load = new Load();
    const one = (): Promise<void> => load.during(tick);
    await begin(
      environment,
      async () => {
        await mountEach(one, entries(10));
        await Promise.all([map(one, range(10)), mount(one), mountEach(one, entries(10), { concurrency: 2 })]);
      },
      3,
    );
    expect(load.peak).toBe(3);
    expect(load.now).toBe(0);
  });

  test("concurrency bounds one mountEach", async () => {
    for (const concurrency of [1, 2]) {
      const load = new Load();
      await begin(environment, () => mountEach(() => load.during(tick), entries(7), { concurrency }));
      expect(load.peak).toBe(concurrency);
      await begin(environment, () =>
        mountEach(() => load.during(settle), later(entries(7)), { concurrency }),
      );
      expect(load.peak).toBe(concurrency);
    }
  });

  test.each([1, 2, 3])(
    "mounts nest at any depth under %i, and no more are in flight",
    async (concurrency) => {
      const load = new Load();
      let leaves = 0;
      const grow = async (depth: number): Promise<void> => {
        await load.during(tick);
        if (depth === 0) leaves += 1;
        else
          await mountEach(grow, [
            ["left", depth - 1],
            ["right", depth - 1],
          ]);
        await load.during(tick);
        if (depth > 0) await mount(() => load.during(tick));
        await load.during(tick);
      };
      await begin(environment, () => mount(grow, 6), concurrency);
      expect([leaves, load.peak]).toEqual([2 ** 6, concurrency]);
    },
  );

  test("maps, streams of calls and mounts nest in one another under 1", async () => {
    const load = new Load();
    const leaf = (): Promise<void> => load.during(tick);
    const limited = fn({ concurrency: 1 }, () => mountEach(leaf, entries(2)));
    await begin(
      environment,
      () =>
        map(async () => {
          const handle = await mountEach(async () => {
            await map(leaf, range(2));
            await limited();
          }, entries(3));
          await handle.ready();
          await leaf();
        }, range(2)),
      1,
    );
    expect([load.peak, load.now]).toEqual([1, 0]);
  });

  test("a parent has its slot back when all have started, not only when they have ended", async () => {
    const { all, wait } = new Gates();
    const log: string[] = [];
    const others = gate();
    const run = begin(
      environment,
      () =>
        mount(async () => {
          await mountEach(wait, entries(2));
          log.push("all started");
          await map(() => others.promise, [1]);
        }),
      3,
    );
    await settle();
    expect([log, all.length]).toEqual([["all started"], 2]);
    const outsider = begin(environment, () => 1, 1); // another run has slots of its own
    await outsider;
    for (const each of all) each.open();
    others.open();
    await run;
  });

  test("a parent that waits for the starts gives its slot up from the first child on", async () => {
    const { all, wait } = new Gates();
    const log: string[] = [];
    const run = begin(
      environment,
      () =>
        mount(async () => {
          const handle = await mountEach(wait, entries(3));
          log.push("started");
          await handle.ready();
          log.push("ready");
        }),
      2,
    );
    await settle();
    expect(all).toHaveLength(2); // with the slot of the parent
    all[0]?.open();
    await settle();
    expect([all.length, ...log]).toEqual([3]); // the deepest first: the third child, not the parent
    all[1]?.open();
    await settle();
    expect(log).toEqual(["started"]);
    all[2]?.open();
    await run;
    expect(log).toEqual(["started", "ready"]);
  });

  test("a parent that waits in ready() gives its slot up, and takes it again", async () => {
    const { all, wait } = new Gates();
    const load = new Load();
    const run = begin(
      environment,
      async () => {
        await mount(async () => {
          const handle = await mount(wait);
          await handle.ready();
          await load.during(tick);
        });
        await mountEach(() => load.during(wait), entries(1));
      },
      2,
    );
    await settle();
    expect(all).toHaveLength(2); // the parent's slot is in use
    expect(load.now).toBe(1);
    all[0]?.open();
    await settle();
    all[1]?.open();
    await run;
    expect(load.peak).toBe(2);
  });

  test("after ready() a parent has its slot again, before others begin", async () => {
    const child = gate();
    const { all, wait } = new Gates();
    const load = new Load();
    const run = begin(
      environment,
      async () => {
        await mount(async () => {
          const handle = await mount(() => child.promise);
          await handle.ready();
          await load.during(wait);
        });
        void mountEach(() => load.during(wait), entries(2));
      },
      2,
    );
    await settle();
    expect(load.now).toBe(1); // the first one has the slot of the parent
    child.open();
    await settle();
    expect([load.now, all.length]).toEqual([2, 2]);
    for (const index of [0, 1, 2]) {
      all[index]?.open();
      await settle();
    }
    await run;
    expect(load.peak).toBe(2);
  });

  test("what is deeper goes first, so a child ends before its sibling begins", async () => {
    const log: string[] = [];
    await begin(
      environment,
      () =>
        mount(() =>
          mountEach(async (child: number) => {
            log.push(`open ${String(child)}`);
            await map(tick, range(3), { concurrency: 1 });
            await mountEach(tick, entries(3));
            log.push(`close ${String(child)}`);
          }, entries(3)),
        ),
      1,
    );
    expect(log).toEqual(range(3).flatMap((child) => [`open ${String(child)}`, `close ${String(child)}`]));
  });

  test("ready() of work that has ended does not give the slot up", async () => {
    const holder = gate();
    const started: string[] = [];
    const run = begin(
      environment,
      async () => {
        const handle = await mount(() => undefined);
        await handle.ready();
        await mount(async () => {
          await Promise.all([handle.ready(), holder.promise]);
        });
        await mount(() => started.push("next"));
      },
      1,
    );
    await settle();
    expect(started).toEqual([]);
    holder.open();
    await run;
    expect(started).toEqual(["next"]);
  });

  test("an item keeps its slot while its exception handler is at work, and not longer", async () => {
    const handling = gate();
    const started: string[] = [];
    const slow = await running("slow", (builder) => {
      builder.setExceptionHandler(() => handling.promise);
    });
    const run = begin(
      slow,
      async () => {
        const handle = await mount(() => Promise.reject(new Error("boom")));
        expect(handle.stats()).toEqual({ started: 1, done: 0, failed: 0, inFlight: 1 });
        await mount(() => started.push("next"));
        expect(handle.stats()).toEqual({ started: 1, done: 0, failed: 1, inFlight: 0 });
      },
      1,
    );
    await settle();
    expect(started).toEqual([]);
    handling.open();
    await run;
    expect(started).toEqual(["next"]);
    await slow.stop();
  });

  test("10 parents that mount 10 children each and wait for them run one at a time under 1", async () => {
    const log: string[] = [];
    await begin(
      environment,
      () =>
        mountEach(async (parent: number) => {
          log.push(`open ${String(parent)}`);
          const handle = await mountEach(tick, entries(10));
          await handle.ready();
          log.push(`close ${String(parent)}`);
        }, entries(10)),
      1,
    );
    expect(log).toEqual(range(10).flatMap((parent) => [`open ${String(parent)}`, `close ${String(parent)}`]));
  });

  test("F98 a slot that is freed goes to who waited, never to a newcomer of the same turn", async () => {
    await begin(
      environment,
      async () => {
        for (let round = 0; round < 200; round += 1) {
          const load = new Load();
          const order: string[] = [];
          const call = (name: string, work: Promise<unknown>): Promise<unknown> =>
            mount(() =>
              load.during(async () => {
                order.push(name);
                await work;
              }),
            );
          const a = gate();
          const running = call("A", a.promise);
          const queued = call("B", tick());
          const newcomer = a.promise.then(tick).then(() => call("D", tick()));
          a.open();
          await Promise.all([running, queued, newcomer]);
          expect([load.peak, ...order]).toEqual([1, "A", "B", "D"]);
        }
      },
      1,
    );
  });

  test("a mount that is not awaited is counted like any other", async () => {
    const hold = gate();
    const pending: Promise<unknown>[] = [];
    const run = begin(
      environment,
      () => {
        pending.push(
          mount(() => hold.promise),
          mount(() => 1),
        );
      },
      1,
    );
    await settle();
    expect(await stateOf(pending[1] as Promise<unknown>)).toBe("pending");
    expect(await stateOf(run)).toBe("pending");
    hold.open();
    await run;
  });
});
