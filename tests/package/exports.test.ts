import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, jest, test } from "@jest/globals";
import ts from "typescript";
import { VERSION } from "../../src/internal/version.js";
import { entries, namedFiles, packageJson } from "../support/package-json.js";
import { ROOT } from "../support/root.js";
import { runNode } from "../support/run-node.js";

jest.setTimeout(120_000); // starts processes, on machines that may be busy

interface Names {
  readonly values: readonly string[];
  readonly types: readonly string[];
}

const RATE_LIMIT: Names = {
  values: [
    "InvalidArgumentError",
    "KeyLimitError",
    "KeyedRateLimiter",
    "LimiterClosedError",
    "PermitUsedError",
    "QueueFullError",
    "RateBudget",
    "RateLimiter",
    "TidegateError",
    "WaitTooLongError",
    "isTidegateError",
    "observeLimiters",
    "perHour",
    "perMinute",
  ],
  types: [
    "AcquireOptions",
    "AnyBudget",
    "BucketOptions",
    "BucketStats",
    "Budget",
    "Clock",
    "CostAt",
    "DimensionStats",
    "ErrorCode",
    "KeyedRateLimiterOptions",
    "Limiter",
    "LimiterEvent",
    "LimiterObserver",
    "LineOptions",
    "LineStats",
    "Permit",
    "RateBudgetStats",
    "RateLimiterOptions",
    "RateLimiterStats",
    "RateOptions",
  ],
};

/** Everything that the package promises. A name that is not here is private. */
const PUBLIC: Readonly<Record<string, Names>> = {
  tidegate: {
    values: [
      ...RATE_LIMIT.values,
      "App",
      "BatchResultError",
      "ContextKey",
      "DeadlineExceededError",
      "DuplicateProvideError",
      "Environment",
      "EnvironmentStateError",
      "LifespanError",
      "MissingContextError",
      "NoEnvironmentError",
      "RetryWithSmallerBatch",
      "RunAbortedError",
      "batched",
      "bindContext",
      "checkCancellation",
      "composeLifespans",
      "defaultEnvironment",
      "fn",
      "lifespan",
      "map",
      "mapStream",
      "mount",
      "mountEach",
      "runMain",
      "start",
      "stop",
      "terminalProgress",
      "tryUseContext",
      "useContext",
      "useSignal",
      "withContext",
      "withExceptionHandler",
      "withTimeout",
    ],
    types: [
      ...RATE_LIMIT.types,
      "AppOptions",
      "BatchOptions",
      "BatchRateLimit",
      "CallCounts",
      "ContextKeyOptions",
      "CorrectableLimiter",
      "EnvironmentBuilder",
      "EnvironmentOptions",
      "EnvironmentState",
      "ExceptionHandler",
      "ExceptionInfo",
      "FnNameOptions",
      "FnOptions",
      "FnRateLimit",
      "FunctionStats",
      "Lifespan",
      "MapOptions",
      "MapStreamOptions",
      "MountHandle",
      "MountStats",
      "MountStep",
      "ProgressReport",
      "ProgressReporter",
      "ProgressStream",
      "ProvidedLimiter",
      "RunHandle",
      "RunOptions",
      "RunOutcome",
      "RunSnapshot",
      "RunStats",
      "TerminalProgressOptions",
      "ValueDescription",
    ],
  },
  "tidegate/rate-limit": RATE_LIMIT,
  "tidegate/fetch": {
    values: ["limitFetch"],
    types: [
      "Answer",
      "FeedbackOptions",
      "FetchInput",
      "FetchLike",
      "FetchLimiter",
      "LimitFetchOptions",
      "OutgoingRequest",
      "PausableLimiter",
      "RetryOptions",
    ],
  },
  "tidegate/opentelemetry": {
    values: ["instrument"],
    types: ["InstrumentOptions", "MeasuredLimiter"],
  },
  "tidegate/diagnostics-channel": { values: ["publishEvents"], types: [] },
  "tidegate/redis": {
    values: ["RedisRateBudget", "RedisRateLimiter", "StoreUnavailableError"],
    types: [
      "RedisClient",
      "RedisRateBudgetOptions",
      "RedisRateBudgetStats",
      "RedisRateLimiterOptions",
      "RedisRateLimiterStats",
      "SendCommand",
      "SharedPermit",
      "StoreOptions",
    ],
  },
  "tidegate/testing": { values: ["ManualClock"], types: [] },
};

test("the entries are these", () => {
  expect(entries.map(({ name }) => name)).toEqual(Object.keys(PUBLIC));
  expect(packageJson.exports["./package.json"]).toBe("./package.json");
});

test("every file that package.json names is there", () => {
  expect(namedFiles.length).toBeGreaterThan(20);
  expect(namedFiles.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

test("the version in the code is that of package.json", () => {
  expect(VERSION).toBe(packageJson.version);
});

test.each(entries)("$name exports these values, whichever way it is loaded", async ({ name, targets }) => {
  const load = `
    import { createRequire } from "node:module";
    const [moduleSync, esm, cjs] = process.argv.slice(-3);
    const names = (exports) => Object.keys(exports).sort();
    console.log(JSON.stringify([
      names(await import(moduleSync)), names(await import(esm)), names(createRequire(moduleSync)(cjs)),
    ]));`;
  const files = [targets["module-sync"], targets.import, targets.require].map((target) =>
    join(ROOT, target.default),
  );
  const { stdout, stderr } = await runNode(["--input-type=module", "--eval", load, "--", ...files], ROOT);
  expect(stderr).toBe("");
  const expected = sorted(PUBLIC[name]?.values);
  expect(JSON.parse(stdout)).toEqual([expected, expected, expected]);
});

test.each(entries)("$name declares these values and types, in both formats", ({ name, targets }) => {
  const { values = [], types = [] } = PUBLIC[name] ?? {};
  for (const condition of ["module-sync", "import", "require"] as const) {
    const file = join(ROOT, targets[condition].types);
    const program = ts.createProgram([file], {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      noLib: true,
      types: [],
    });
    expect(declaredNames(program, file)).toEqual(sorted([...values, ...types]));
    // A declaration of one format that leads to one of the other breaks users who resolve as Node 16 does.
    const ending = condition === "require" ? ".d.cts" : ".d.ts";
    const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(join(ROOT, "dist")));
    const strangers = own.filter(({ fileName }) => !fileName.endsWith(ending));
    expect(own.length).toBeGreaterThan(0);
    expect(strangers.map(({ fileName }) => fileName)).toEqual([]);
  }
});

function declaredNames(program: ts.Program, file: string): string[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is no module`);
  return sorted(checker.getExportsOfModule(module).map((symbol) => symbol.name));
}

function sorted(names: readonly string[] = []): string[] {
  return [...names].sort();
}
