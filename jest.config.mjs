import { createDefaultEsmPreset } from "ts-jest";

/** ts-jest translates only (isolatedModules); `npm run types` checks the types of sources and tests. */
const base = {
  ...createDefaultEsmPreset({ tsconfig: "tsconfig.json" }),
  testEnvironment: "node",
  // What VitePress builds: it comes and goes while jest looks for modules.
  modulePathIgnorePatterns: ["<rootDir>/docs/\\.vitepress/(dist|cache|\\.temp)/"],
  moduleNameMapper: {
    "^(\\.{1,2}/.*)\\.js$": "$1",
    "^tidegate$": "<rootDir>/src/index.ts",
    "^tidegate/(rate-limit|fetch|opentelemetry|diagnostics-channel|redis|testing)$":
      "<rootDir>/src/$1/index.ts",
  },
};

export default {
  coverageProvider: "v8",
  // A test that hangs is told from one on a busy machine; none measures time by this limit.
  testTimeout: 30_000,
  projects: [
    {
      ...base,
      displayName: "source",
      testMatch: ["<rootDir>/tests/**/*.test.ts"],
      testPathIgnorePatterns: ["/node_modules/", "<rootDir>/tests/(package|property)/"],
    },
    {
      ...base,
      displayName: "property",
      testMatch: ["<rootDir>/tests/property/**/*.test.ts"],
      setupFiles: ["<rootDir>/tests/support/same-samples.ts"],
    },
    {
      ...base,
      // A project of its own, so that the build runs only when one of these tests does.
      displayName: "package",
      testMatch: ["<rootDir>/tests/package/**/*.test.ts"],
      globalSetup: "<rootDir>/tests/support/build-dist.mjs",
    },
  ],
};
