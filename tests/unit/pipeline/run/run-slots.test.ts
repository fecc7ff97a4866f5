import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Environment } from "../../../../src/lifespan/index.js";
import { App, fn, map, type RunHandle } from "../../../../src/pipeline/index.js";
import { begin, Counter, errorOf, gate, Load, range, settle, stateOf, tick } from "../helpers.js";

let environment: Environment;
beforeEach(async () => {
  environment = await new Environment({ name: "test" }).start();
});
afterEach(async () => {
  await environment.stop();
});

function runWith<R>(concurrency: number, main: () => R): Promise<Awaited<R>> {
  return begin(environment, main, concurrency).result();
}

/** Three calls that are deeper than anything else here: they take every slot that somebody gives up. */
function crowd(call: () => Promise<void>): Promise<unknown> {
  return map(() => map(call, range(3)), [0]);
}

describe("App.concurrency", () => {
  test("bounds the items of all fan-outs of a run together; main holds no slot", async () => {
    const load = new Load();
    await runWith(3, () =>
      Promise.all(range(4).map(() => map(() => load.during(tick), range(10), { concurrency: 2 }))),
    );
    expect(load.peak).toBe(3);
  });

  test("is 1024 unless set, and then the only limit of a map without one of its own", async () => {
    const counts: number[] = [];
    for (const concurrency of [undefined, 2_000]) {
      const source = new Counter();
      const hold = gate();
      const main = (): unknown => map(() => hold.promise, source);
      const handle = new App({ name: "app", environment, concurrency }, main).run();
      await settle();
      counts.push(source.pulled);
      const over = errorOf(handle);
      handle.abort();
      hold.open();
      await over;
    }
    expect(counts).toEqual([1_025, 2_001]); // one is pulled ahead
  });

  test("each run has slots of its own", async () => {
    const load = new Load();
    const app = new App({ name: "app", environment, concurrency: 1 }, () =>
      map(() => load.during(tick), range(5)),
    );
    await Promise.all([app.run(), app.run()]);
    expect(load.peak).toBe(2);
  });

  test("F98 under limit 1 a slot that is freed goes to who waited, never to a newcomer of the same turn", async () => {
    await runWith(1, async () => {
      for (let round = 0; round < 1_000; round += 1) {
        const load = new Load();
        const order: string[] = [];
        const call = (name: string, work: Promise<unknown>): Promise<unknown> =>
          map(
            () =>
              load.during(async () => {
                order.push(name);
                await work;
              }),
            [0],
          );
        const a = gate();
        const running = call("A", a.promise);
        const queued = call("B", tick());
        const newcomer = a.promise.then(tick).then(() => call("D", tick()));
        a.open();
        await Promise.all([running, queued, newcomer]);
        expect([load.peak, ...order]).toEqual([1, "A", "B", "D"]);
      }
    });
  });

  test("of one map at most one item is pulled ahead of its slot", async () => {
    const source = new Counter();
    const hold = gate();
    const handle = new App({ name: "app", environment, concurrency: 2 }, () =>
      map(() => hold.promise, source),
    ).run();
    await settle();
    expect(source.pulled).toBe(3);
    const error = errorOf(handle);
    handle.abort("enough");
    hold.open();
    expect(await error).toBe("enough");
    expect([source.pulled, source.closed]).toEqual([3, 1]);
  });
});

describe("a parent", () => {
  test("10 parents of 10 children under 1 run one parent at a time", async () => {
    const log: string[] = [];
    const load = new Load();
    await runWith(1, () =>
      map(async (parent: number) => {
        log.push(`open ${String(parent)}`);
        await map(() => load.during(tick), range(10));
        log.push(`close ${String(parent)}`);
      }, range(10)),
    );
    expect(load.peak).toBe(1);
    expect(log).toEqual(range(10).flatMap((parent) => [`open ${String(parent)}`, `close ${String(parent)}`]));
  });

  test("children that are sync, or limited by their map, go before another parent too", async () => {
    for (const child of [(): unknown => 1, (): unknown => tick()]) {
      const log: string[] = [];
      await runWith(1, () =>
        map(async (parent: number) => {
          log.push(`open ${String(parent)}`);
          await map(child, range(10), { concurrency: 1 });
          log.push(`close ${String(parent)}`);
        }, range(5)),
      );
      expect(log).toEqual(
        range(5).flatMap((parent) => [`open ${String(parent)}`, `close ${String(parent)}`]),
      );
    }
  });

  test("keeps its slot while an async source looks for the first child, and its source may fan out itself", async () => {
    const log: string[] = [];
    async function* children(): AsyncGenerator<number> {
      await settle();
      yield 0;
      yield* await map((item: number) => tick().then(() => item), [1, 2]);
    }
    await runWith(1, () =>
      map(async (parent: number) => {
        log.push(`open ${String(parent)}`);
        expect(
          await map((child: number) => {
            log.push(`child of ${String(parent)}`);
            return child;
          }, children()),
        ).toEqual(range(3));
      }, range(2)),
    );
    expect(log.slice(0, 2)).toEqual(["open 0", "child of 0"]);
    expect(log).toHaveLength(8);
  });

  test.each([1, 2, 3])("nesting 50 deep ends under %p, and never is more in flight", async (concurrency) => {
    const load = new Load();
    const descend = async (depth: number): Promise<number> => {
      await load.during(tick);
      if (depth === 0) return 1;
      const below = await map(descend, [depth - 1, 0]);
      await load.during(tick);
      return below.reduce((sum, one) => sum + one, 1);
    };
    expect(await runWith(concurrency, () => map(descend, [50, 50]))).toEqual([101, 101]);
    expect(load.peak).toBe(concurrency);
  });

  test("a function that reaches itself through map does not deadlock", async () => {
    const count = fn(async function count(depth: number): Promise<number> {
      await tick();
      if (depth === 0) return 1;
      return (await map(count, [depth - 1, depth - 1])).reduce((sum, one) => sum + one, 1);
    });
    expect(await runWith(1, () => count(6))).toBe(127);
    expect(await runWith(1, () => map(count, [6]))).toEqual([127]);
  });

  test("two maps at once cost one slot: it comes back once, when the last of them has ended", async () => {
    const load = new Load();
    const first = gate();
    const second = gate();
    const other = gate();
    const log: string[] = [];
    const done = runWith(2, () =>
      map(async (item: number) => {
        if (item > 0) return load.during(() => other.promise);
        await Promise.all([
          map(() => load.during(() => first.promise), [0]).then(() => log.push("first is over")),
          map(() => load.during(() => second.promise), [0]).then(() => log.push("second is over")),
        ]);
        await load.during(async () => {
          log.push("parent goes on");
          await tick();
        });
      }, range(4)),
    );
    await settle();
    expect(load.now).toBe(2); // the two children; the other items wait
    first.open();
    await settle();
    expect(log).toEqual(["first is over"]);
    expect(load.now).toBe(2); // the second child and one other item
    second.open();
    await settle();
    // An item that had waited on the depth of the parent was there before; but who comes back goes first.
    expect(log).toEqual(["first is over", "second is over", "parent goes on"]);
    other.open();
    await done;
    expect(load.peak).toBe(2);
  });

  test("its slot is back before the promise of the map resolves", async () => {
    const load = new Load();
    await runWith(2, () =>
      map(async () => {
        for (let turn = 0; turn < 3; turn += 1) {
          await load.during(tick);
          await map(() => load.during(tick), range(3));
        }
        await load.during(tick);
      }, range(6)),
    );
    expect(load.peak).toBe(2);
  });

  test("an empty fan-out does not give the slot up", async () => {
    const log: number[] = [];
    await runWith(1, () =>
      map(async (item: number) => {
        log.push(item);
        await map(tick, []);
        log.push(item);
      }, range(3)),
    );
    expect(log).toEqual([0, 0, 1, 1, 2, 2]);
  });

  test("that starts another map while it waits for its slot waits for that one instead", async () => {
    const load = new Load();
    const [child, another, hold] = [gate(), gate(), gate()];
    const log: string[] = [];
    const done = runWith(2, () =>
      map(
        async (item: number) => {
          if (item === 1) return crowd(() => load.during(() => hold.promise));
          const first = map(() => load.during(() => child.promise), [0]).then(() =>
            log.push("first is over"),
          );
          await another.promise;
          await map(() => load.during(tick), [0]);
          log.push("second is over");
          await first;
          return load.during(tick);
        },
        [0, 1],
      ),
    );
    await settle();
    child.open();
    await settle();
    expect(log).toEqual([]); // the slot went to one of the crowd
    another.open();
    await settle();
    expect(log).toEqual(["first is over"]);
    hold.open();
    await done;
    expect(log).toEqual(["first is over", "second is over"]);
    expect(load.peak).toBe(2);
  });

  test("takes its slot back before the slot of a call within it, so that nobody has the one and waits for the other", async () => {
    const call = fn({ concurrency: 1 }, (body: () => Promise<unknown>) => body());
    const noMore = gate();
    const enough = gate();
    async function* one(): AsyncGenerator<number> {
      yield 1;
      await noMore.promise;
    }
    const done = runWith(1, () =>
      map(
        async (item: number) => {
          if (item === 0) await call(() => map(tick, one()));
          else {
            await enough.promise;
            await map(() => call(tick), [0]);
          }
        },
        [0, 1],
      ),
    );
    await settle(); // item 0 has given up both slots, item 1 has that of the run
    noMore.open();
    await settle(); // item 0 wants them back
    enough.open();
    expect(await stateOf(done)).toMatchObject({ value: [undefined, undefined] });
  });

  test("a map that nobody awaits leaves the count of slots right", async () => {
    const load = new Load();
    const inner = gate();
    await runWith(2, async () => {
      await map(async () => {
        void map(() => inner.promise, [0]);
        await tick();
      }, [0]);
      inner.open();
      await settle();
      await map(() => load.during(tick), range(10));
    });
    expect(load.peak).toBe(2);
  });

  test("of an aborted run does not hang while others keep its slot", async () => {
    const hold = gate();
    const child = gate();
    const log: unknown[] = [];
    const handle = new App({ name: "app", environment, concurrency: 2 }, () =>
      map(
        async (item: number) => {
          if (item === 0) log.push(await errorOf(map(() => child.promise, [0])));
          else await crowd(() => hold.promise);
        },
        [0, 1],
      ),
    ).run();
    await settle();
    child.fail(new Error("child"));
    await settle();
    expect(log).toEqual([]); // the slot went to one of the crowd
    const reason = new Error("stop");
    const over = errorOf(handle);
    handle.abort(reason);
    await settle();
    expect(log).toMatchObject([{ message: "child" }]);
    expect(await stateOf(handle)).toBe("pending");
    hold.open();
    expect(await over).toBe(reason);
  });

  test("does not begin to wait for its slot when the run is aborted already", async () => {
    const [hold, enter] = [gate(), gate()];
    const log: unknown[] = [];
    const handle = new App({ name: "app", environment, concurrency: 2 }, () =>
      map(
        async (item: number) => {
          if (item === 1) return crowd(() => hold.promise);
          await enter.promise;
          log.push(await errorOf(map(tick, [0])));
        },
        [0, 1],
      ),
    ).run();
    await settle();
    enter.open(); // its slot goes to one of the crowd, its child stays in line
    await settle();
    const over = errorOf(handle);
    handle.abort("stop");
    await settle();
    expect(log).toEqual(["stop"]);
    hold.open();
    expect(await over).toBe("stop");
  });
});

describe("an item in line for a slot", () => {
  test("leaves it when its map fails, and the slot stays with the run", async () => {
    const load = new Load();
    const boom = new Error("boom");
    await runWith(1, async () => {
      const failing = map(
        async (item: number) => {
          await tick();
          if (item === 0) throw boom;
        },
        [0, 1],
      );
      expect(await errorOf(failing)).toBe(boom);
      await map(() => load.during(tick), range(5));
    });
    expect(load.peak).toBe(1);
  });

  test("is not started when the run is aborted in the turn in which it gets the slot", async () => {
    const started: number[] = [];
    const hold = gate();
    const handle: RunHandle<unknown> = new App({ name: "app", environment, concurrency: 1 }, () =>
      map(
        (item: number) => {
          started.push(item);
          return hold.promise;
        },
        [0, 1],
      ),
    ).run();
    await settle();
    const over = errorOf(handle);
    void hold.promise.then(() => {
      handle.abort("stop"); // the slot has been handed over by the reaction before this one
    });
    hold.open();
    expect(await over).toBe("stop");
    expect(started).toEqual([0]);
  });
});

describe("an aborted run", () => {
  test("starts nothing more, lets items in flight end, and rejects with the reason", async () => {
    const source = new Counter();
    const hold = gate();
    const handle = new App({ name: "app", environment }, () =>
      map(() => hold.promise, source, { concurrency: 3 }),
    ).run();
    const reason = new Error("stop");
    const over = errorOf(handle);
    handle.abort(reason);
    expect(await stateOf(handle)).toBe("pending");
    hold.open();
    expect(await over).toBe(reason);
    expect([source.pulled, source.closed]).toEqual([3, 1]);
  });

  test("F95 an abort after the source is exhausted is no success", async () => {
    const hold = gate();
    let error: unknown;
    const handle = new App({ name: "app", environment }, async () => {
      error = await errorOf(map(() => hold.promise, [1, 2, 3], { concurrency: 3 }));
    }).run();
    const reason = new Error("stop");
    const over = errorOf(handle);
    handle.abort(reason);
    hold.open();
    expect(await over).toBe(reason);
    expect(error).toBe(reason);
  });

  test("an item that fails because it has aborted its run does not hide the reason", async () => {
    let error: unknown;
    const begin = gate();
    const handle: RunHandle<void> = new App({ name: "app", environment }, async () => {
      await begin.promise;
      const failing = map(() => {
        handle.abort("stop");
        throw new Error("a consequence");
      }, [0]);
      error = await errorOf(failing);
    }).run();
    const over = errorOf(handle);
    begin.open();
    expect([await over, error]).toEqual(["stop", "stop"]);
  });

  test("a map that begins in it rejects at once and starts nothing", async () => {
    const source = new Counter();
    let started = 0;
    const begin = gate();
    const handle = new App({ name: "app", environment }, async () => {
      await begin.promise;
      await map(() => (started += 1), source);
    }).run();
    const over = errorOf(handle);
    handle.abort("stop");
    begin.open();
    expect(await over).toBe("stop");
    expect([started, source.pulled]).toEqual([0, 0]);
  });

  test("1000 fan-outs that wait for a slot end in one turn", async () => {
    const hold = gate();
    const handle = new App({ name: "app", environment, concurrency: 1 }, () =>
      Promise.allSettled(
        range(1_000).map((index) => map(() => (index === 0 ? hold.promise : undefined), [0])),
      ),
    ).run();
    const over = errorOf(handle);
    handle.abort("stop");
    expect(await stateOf(handle)).toBe("pending");
    hold.open();
    expect(await over).toBe("stop");
  });
});
