import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { Consumer } from "../support/consumer.js";
import { samplesOf, typeFaults } from "../support/samples.js";
import { documents } from "../support/samples-documents.js";

jest.setTimeout(120_000); // packs, and checks types, on machines that may be busy

let consumer: Consumer;

beforeAll(async () => {
  consumer = await Consumer.create();
  await consumer.linkOthers();
});

afterAll(async () => {
  await consumer.remove();
});

test("the programs in the documents compile against the packed package", () => {
  const real = documents().flatMap(({ file, text }) => samplesOf(file, text));
  const wrong = ['import { Scope } from "tidegate";', 'import "tidegate/context";'].map((code) => ({
    file: "made-up.md",
    line: 1,
    code,
  }));
  const faults = typeFaults([...real, ...wrong], consumer.folder);
  expect(faults.slice(0, real.length).flat()).toEqual([]);
  expect(real.length).toBeGreaterThan(20);
  // What is not exported, and an entry that the package does not have: so it is the package that was asked.
  expect(faults.slice(real.length)).toEqual([
    [expect.stringMatching(/^made-up\.md:1: TS2305 .*Scope/)],
    [expect.stringMatching(/^made-up\.md:1: TS(2307|2882) .*tidegate\/context/)],
  ]);
});
