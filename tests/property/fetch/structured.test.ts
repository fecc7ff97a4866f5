import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import {
  type BareItem,
  type Dictionary,
  type InnerList,
  type Item,
  type List,
  parseDictionary,
  parseList,
  serializeDictionary,
  serializeList,
  Token,
} from "structured-headers";
import {
  type Bare,
  type Member,
  readDictionary,
  readList,
} from "../../../src/fetch/hints/structured-list.js";

// The package structured-headers as an oracle. It reads inner lists, dates and display strings as well: fields with
// those are out of the comparison.

/** The characters of an ASCII text. */
const each = (text: string): string[] => text.split("");
const LETTERS = each("abcdefghijklmnopqrstuvwxyz");
const key = fc
  .tuple(
    fc.constantFrom(...LETTERS, "*"),
    fc.string({ unit: fc.constantFrom(...LETTERS, ...each("0189_-.*")), maxLength: 6 }),
  )
  .map((parts) => parts.join(""));
const token = fc
  .tuple(
    fc.constantFrom(...LETTERS, ...each("AZ*")),
    fc.string({ unit: fc.constantFrom(...each("azAZ019!#$%&'*+-.^_`|~:/")), maxLength: 6 }),
  )
  .map((parts) => new Token(parts.join("")));
const bareItem: fc.Arbitrary<BareItem> = fc.oneof(
  fc.integer({ min: -999_999_999_999_999, max: 999_999_999_999_999 }),
  fc.integer({ min: -999_999_999, max: 999_999_999 }).map((n) => n / 1_000),
  fc.string({ unit: fc.integer({ min: 32, max: 126 }).map((code) => String.fromCharCode(code)) }),
  token,
  fc.boolean(),
  fc.uint8Array({ maxLength: 8 }).map((bytes) => new Uint8Array(bytes).buffer),
);
const item: fc.Arbitrary<Item> = fc.tuple(
  bareItem,
  fc.array(fc.tuple(key, bareItem), { maxLength: 3 }).map((entries) => new Map(entries)),
);
const list = fc.array(item, { maxLength: 4 }).map((members) => serializeList(members));
const dictionary = fc
  .array(fc.tuple(key, item), { maxLength: 4 })
  .map((entries) => serializeDictionary(new Map(entries)));

/** A field to which something was done. */
function mutated(field: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const scrap = fc.oneof(
    fc.constantFrom(
      ...each(`,;=":?.- \t\\*0199aA`),
      ",,",
      " , ",
      "\t,\t",
      ";;",
      "==",
      "?2",
      "1.",
      ".5",
      "--1",
      "é",
      "\u0001",
    ),
    fc.constant("1234567890123456"),
    fc.string({ maxLength: 2 }),
  );
  return fc.tuple(field, fc.nat(), fc.nat(3), scrap).map(([text, where, removed, added]) => {
    const at = text === "" ? 0 : where % (text.length + 1);
    return text.slice(0, at) + added + text.slice(at + removed);
  });
}

const UNSUPPORTED = Symbol("a type that is not read");

/** What the oracle has read, as this package gives it. */
function bareOf(value: BareItem): Bare | typeof UNSUPPORTED {
  if (value instanceof Token) return value.toString();
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString("base64");
  return typeof value === "object" ? UNSUPPORTED : value;
}

function memberOf(member: Item | InnerList): unknown {
  const [value, parameters] = member;
  if (Array.isArray(value)) return UNSUPPORTED;
  const read = {
    value: bareOf(value),
    parameters: [...parameters].map(([name, one]) => [name, bareOf(one)]),
  };
  const all = [read.value, ...read.parameters.map(([, one]) => one)];
  return all.includes(UNSUPPORTED) ? UNSUPPORTED : read;
}

/** Base64 has many ways to say the same bytes; the oracle tells bytes only. */
const canonical = (value: Bare, isBytes: boolean): Bare =>
  isBytes && typeof value === "string" ? Buffer.from(value, "base64").toString("base64") : value;

function plain(member: Member, like: Item | InnerList | undefined): unknown {
  if (like === undefined) return member; // refused by the oracle
  const [value, parameters] = like;
  return {
    value: canonical(member.value, value instanceof ArrayBuffer),
    parameters: [...member.parameters].map(([name, one]) => [
      name,
      canonical(one, parameters.get(name) instanceof ArrayBuffer),
    ]),
  };
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

function compareLists(text: string): void {
  const expected: List | undefined = attempt(() => parseList(text));
  const members = expected?.map(memberOf);
  if (members?.includes(UNSUPPORTED) === true) return;
  const read = readList(text);
  expect(read?.map((member, index) => plain(member, expected?.[index]))).toEqual(members);
}

function compareDictionaries(text: string): void {
  const expected: Dictionary | undefined = attempt(() => parseDictionary(text));
  const members =
    expected && [...expected].map(([name, member]): [string, unknown] => [name, memberOf(member)]);
  if (members?.some(([, member]) => member === UNSUPPORTED) === true) return;
  const read = readDictionary(text);
  const told = read && [...read].map(([name, member]) => [name, plain(member, expected?.get(name))]);
  expect(told && new Map(told as [string, unknown][])).toEqual(members && new Map(members));
}

describe("a list is read as structured-headers reads it", () => {
  test("well formed", () => {
    fc.assert(
      fc.property(list, (text) => {
        expect(readList(text)).toBeDefined();
        compareLists(text);
      }),
      { numRuns: 1_000 },
    );
  });

  test("with something done to it", () => {
    fc.assert(fc.property(mutated(mutated(list)), compareLists), { numRuns: 5_000 });
    fc.assert(fc.property(mutated(dictionary), compareLists), { numRuns: 1_000 });
  });
});

describe("a dictionary is read as structured-headers reads it", () => {
  test("well formed", () => {
    fc.assert(
      fc.property(dictionary, (text) => {
        expect(readDictionary(text)).toBeDefined();
        compareDictionaries(text);
      }),
      { numRuns: 1_000 },
    );
  });

  test("with something done to it", () => {
    fc.assert(fc.property(mutated(mutated(dictionary)), compareDictionaries), { numRuns: 5_000 });
    fc.assert(fc.property(mutated(list), compareDictionaries), { numRuns: 1_000 });
  });
});

test.each(["(1 2)", "@1659578233", '%"f%c3%bc"', "a=(1)"])("what is not read: %s", (text) => {
  expect(readList(text) ?? readDictionary(text)).toBeUndefined();
  expect(attempt(() => parseList(text)) ?? attempt(() => parseDictionary(text))).toBeDefined();
});
