import { describe, expect, test } from "@jest/globals";
import { type SlotRequest, Slots } from "../../../../src/pipeline/run/slots.js";
import { settle } from "../helpers.js";

describe("Slots", () => {
  test("gives no more slots than it has", () => {
    const slots = new Slots(2);
    expect([slots.tryTake(), slots.tryTake(), slots.tryTake()]).toEqual([true, true, false]);
    slots.release();
    expect([slots.tryTake(), slots.tryTake()]).toEqual([true, false]);
  });

  test("the deepest goes first, on one depth who comes back before who starts, then first come first served", async () => {
    const slots = new Slots(1);
    slots.tryTake();
    const order: string[] = [];
    const wish = (name: string, depth: number, isReturning: boolean): void => {
      void slots.request(depth, isReturning).settled.then(() => order.push(name));
    };
    wish("starts on 1", 1, false);
    wish("starts on 1, later", 1, false);
    wish("back on 1", 1, true);
    wish("starts on 7", 7, false);
    wish("starts on 2", 2, false);
    wish("back on 2", 2, true);
    for (let turn = 0; turn < 6; turn += 1) {
      expect(slots.tryTake()).toBe(false);
      slots.release();
    }
    await settle();
    expect(order).toEqual([
      "starts on 7",
      "back on 2",
      "starts on 2",
      "back on 1",
      "starts on 1",
      "starts on 1, later",
    ]);
    slots.release();
    expect(slots.tryTake()).toBe(true);
  });

  test("a freed slot belongs to the first in line in the same turn", () => {
    const slots = new Slots(1);
    slots.tryTake();
    const waiting = slots.request(0, false);
    slots.release();
    expect(waiting.granted).toBe(true);
    expect(slots.tryTake()).toBe(false);
  });

  test("who leaves the line, or gives up what was just granted, lets the next one in", async () => {
    const slots = new Slots(1);
    slots.tryTake();
    const [a, b, c] = [1, 2, 3].map(() => slots.request(0, false)) as [SlotRequest, SlotRequest, SlotRequest];
    slots.withdraw(a);
    await a.settled;
    slots.release();
    expect([a.granted, b.granted, c.granted]).toEqual([false, true, false]);
    slots.withdraw(b);
    expect([b.granted, c.granted]).toEqual([false, true]);
    slots.release();
    expect([slots.tryTake(), slots.tryTake()]).toEqual([true, false]);
  });

  test("Infinity never makes anyone wait", () => {
    const slots = new Slots(Infinity);
    for (let turn = 0; turn < 1_000; turn += 1) expect(slots.tryTake()).toBe(true);
    slots.release();
    expect(slots.tryTake()).toBe(true);
  });
});
