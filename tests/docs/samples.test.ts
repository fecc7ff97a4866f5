import { beforeAll, describe, expect, test } from "@jest/globals";
import { runFaults, samplesOf, typeFaults } from "../support/samples.js";
import { documents } from "../support/samples-documents.js";

const LIMIT_MS = 30_000; // for one program, on a busy machine; they take well under a second
const BRIEF_MS = 3_000; // for the program that never ends

const real = documents().flatMap(({ file, text }) => samplesOf(file, text));

const MADE_UP = {
  fine: `import { perMinute } from "tidegate";\nconsole.log(perMinute(60)); // => 1\n`,
  "wrong comment": `console.log("one"); // => one\nconsole.log("two"); // => three\n`,
  "comment too many": `console.log("one"); // => one\n// => two\n`,
  "comment too few": `console.log("one"); // => one\nconsole.log("two");\n`,
  "comments in another order": `console.log("one"); // => two\nconsole.log("two"); // => one\n`,
  "no comment": `console.log("one");\n`,
  "type error": `const n: number = "1";\nconsole.log(n); // => 1\n`,
  "unknown name": `import { Unknown } from "tidegate";\nconsole.log(typeof (Unknown as unknown)); // => undefined\n`,
  "loose index": `const first: string = ["a"][0];\nconsole.log(first); // => a\n`,
  "writes to stderr": `console.error("oh");\nconsole.log("one"); // => one\n`,
  throws: `console.log("one"); // => one\nthrow new Error("oh");\n`,
  "awaits for ever": `console.log("one"); // => one\nawait new Promise(() => undefined);\n`,
  "never ends": `console.log("one"); // => one\nsetInterval(() => undefined, 1_000);\n`,
};
type MadeUp = keyof typeof MADE_UP;
const names = Object.keys(MADE_UP) as MadeUp[];
const wrong = samplesOf("made-up.md", names.map((name) => `\`\`\`ts\n${MADE_UP[name]}\`\`\`\n`).join("\n"));

/** Of the real ones, then of the made-up ones: one program of the type checker for all, which takes seconds to load. */
let types: string[][];

beforeAll(() => {
  types = typeFaults([...real, ...wrong]);
}, 120_000);

describe("the programs in the documents", () => {
  let runs: string[][];

  beforeAll(async () => {
    runs = await runFaults(real, LIMIT_MS);
  }, 180_000);

  test.each(real.map((sample, index) => ({ ...sample, index })))(
    "$file:$line compiles, runs, and prints what its comments say",
    ({ index }) => {
      expect([types[index], runs[index]]).toEqual([[], []]);
    },
  );

  test("README, the first page, a guide, options and errors all have some", () => {
    const files = new Set(real.map(({ file }) => file));
    expect([...files]).toEqual(
      expect.arrayContaining([
        "README.md",
        "docs/getting-started.md",
        "docs/guides/testing.md",
        "docs/options.md",
        "docs/errors.md",
      ]),
    );
  });
});

describe("the check itself", () => {
  let runs: string[][];

  beforeAll(async () => {
    runs = [
      ...(await runFaults(wrong.slice(0, -1), LIMIT_MS)),
      ...(await runFaults(wrong.slice(-1), BRIEF_MS)),
    ];
  }, 120_000);

  const faultsOf = (name: MadeUp): string => {
    const index = names.indexOf(name);
    return [...(types[real.length + index] as string[]), ...(runs[index] as string[])].join("\n");
  };

  test("lets a good program pass", () => {
    expect(faultsOf("fine")).toBe("");
  });

  test.each<[MadeUp, RegExp]>([
    ["wrong comment", /^made-up\.md:\d+: printed "two" where it says "three" \(output line 2\)$/],
    ["comment too many", /printed nothing where it says "two"/],
    ["comment too few", /printed "two" where it says nothing/],
    ["comments in another order", /printed "one" where it says "two" \(output line 1\)/],
    ["no comment", /would prove nothing/],
    ["type error", /^made-up\.md:\d+: TS2322 .*'string' is not assignable to type 'number'/],
    ["unknown name", /TS2305 .*Unknown/],
    ["loose index", /TS2322 .*undefined/],
    ["writes to stderr", /wrote to stderr: oh/],
    ["throws", /ended with exit code 1/],
    ["never ends", /took longer than \d+ ms/],
    ["awaits for ever", /ended with exit code 13/],
  ])("finds fault with a program that is wrong: %s", (name, fault) => {
    expect(faultsOf(name)).toMatch(fault);
  });

  test("names the line in the document", () => {
    const text = "# Title\n\n```sh\nnpm ci\n```\n\n```ts\nconst one = 1;\n```\n";
    expect(samplesOf("made-up.md", text)).toEqual([
      { file: "made-up.md", line: 8, code: "const one = 1;\n" },
    ]);
  });

  test("takes a block in a list without its indentation", () => {
    const text = "- A point:\n\n  ```ts\n  if (true) {\n    f();\n  }\n  ```\n";
    expect(samplesOf("made-up.md", text)[0]?.code).toBe("if (true) {\n  f();\n}\n");
  });

  test.each(["typescript", "js", "ts skip", ""])(
    "refuses a block of %j, which would go unchecked",
    (language) => {
      expect(() => samplesOf("made-up.md", `\`\`\`${language}\nf();\n\`\`\`\n`)).toThrow(
        /made-up\.md:2: a block of/,
      );
    },
  );

  test("refuses a fence that is not closed", () => {
    expect(() => samplesOf("made-up.md", "```ts\nf();\n")).toThrow(/not closed/);
  });
});
