import { join } from "node:path";
import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { Consumer } from "../support/consumer.js";
import {
  CONSUMER_FILES,
  CONSUMER_OPTIONS,
  CONSUMER_PROGRAM,
  CONSUMER_RESOLUTIONS,
} from "../support/consumer-program.js";
import { ROOT } from "../support/root.js";
import { runNode } from "../support/run-node.js";

jest.setTimeout(120_000); // compiles and starts processes, on machines that may be busy

let consumer: Consumer;

beforeAll(async () => {
  consumer = await Consumer.create();
  await consumer.write(Object.fromEntries(CONSUMER_FILES.map((file) => [file, CONSUMER_PROGRAM])));
});

afterAll(async () => {
  await consumer.remove();
});

test.each(Object.entries(CONSUMER_RESOLUTIONS))(
  "a TypeScript user with moduleResolution %s compiles against the package, and the result runs",
  async (name, resolution) => {
    const config = {
      compilerOptions: { ...CONSUMER_OPTIONS, ...resolution, outDir: name },
      files: CONSUMER_FILES,
    };
    await consumer.write({ [`${name}.json`]: JSON.stringify(config) });
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    expect(await runNode([compiler, "-p", `${name}.json`], consumer.folder)).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });

    const runnable = name === "nodenext" ? ["esm.mjs", "cjs.cjs"] : ["esm.mjs"];
    for (const file of runnable) {
      const { stdout, stderr } = await runNode([join(name, file)], consumer.folder);
      expect(stderr).toBe("");
      expect(JSON.parse(stdout)).toEqual([[2, 4, 6], true, false, 1]);
    }
  },
);
