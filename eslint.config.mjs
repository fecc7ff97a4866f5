import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["**/dist/", "coverage/", "docs/.vitepress/{cache,.temp}/"] },
  tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/prefer-promise-reject-errors": "off",
      "@typescript-eslint/only-throw-error": "off",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    },
  },
  {
    // Nothing outside clock.ts asks the platform for the time, so that a manual clock reaches all of it. Reading dates
    // that others have written is no such question.
    files: ["src/**/*.ts"],
    ignores: ["src/clock.ts", "src/fetch/hints/moments.ts"],
    rules: {
      "no-restricted-globals": ["error", "Date", "performance", "setTimeout", "setInterval", "setImmediate"],
    },
  },
  // Lifespans are async generators, also those that have nothing to wait for.
  {
    files: ["tests/**/*.ts", "examples/**/*.ts"],
    rules: { "@typescript-eslint/require-await": "off" },
  },
  { files: ["**/*.mjs"], extends: [tseslint.configs.disableTypeChecked] },
);
