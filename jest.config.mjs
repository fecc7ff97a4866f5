import { createDefaultEsmPreset } from "ts-jest";

/** ts-jest translates only (isolatedModules); `npm run types` checks the types of sources and tests. */
export default {
  ...createDefaultEsmPreset({ tsconfig: "tsconfig.json" }),
  testEnvironment: "node",
  testMatch: ["<rootDir>/tests/**/*.test.ts"],
  coverageProvider: "v8",
  moduleNameMapper: {
    "^(\\.{1,2}/.*)\\.js$": "$1",
    "^tidegate$": "<rootDir>/src/index.ts",
    "^tidegate/(rate-limit|testing)$": "<rootDir>/src/$1/index.ts",
  },
};
