import { startTests } from "@vitest/runner";

const TIME_LIMIT_MS = 30_000;

/**
 * Runs suites in this process, one after the other.
 *
 * @param {Record<string, () => Promise<unknown>>} suites What loads each, by its file.
 * @returns {Promise<{ passed: number, skipped: number, failures: string[] }>}
 */
export async function runSuites(suites) {
  const runner = {
    pool: "none",
    config: {
      root: "/",
      name: "",
      setupFiles: [],
      passWithNoTests: false,
      allowOnly: false,
      sequence: { seed: 1, hooks: "stack", setupFiles: "list", concurrent: false, shuffle: false },
      maxConcurrency: 1,
      testTimeout: TIME_LIMIT_MS,
      hookTimeout: TIME_LIMIT_MS,
      retry: 0,
      includeTaskLocation: false,
      diffOptions: {},
    },
    importFile: (file) => suites[file](),
  };
  const result = { passed: 0, skipped: 0, failures: [] };
  for (const file of Object.keys(suites)) {
    const [ran] = await startTests([{ filepath: file, testLocations: undefined }], runner);
    count(ran, file, result);
  }
  return result;
}

function count(task, path, result) {
  for (const { message } of (task.type === "suite" && task.result?.errors) || [])
    result.failures.push(`${path}: ${message}`);
  for (const inner of task.tasks ?? []) count(inner, `${path} > ${inner.name}`, result);
  if (task.type === "suite") return;
  if (task.mode === "skip" || task.mode === "todo") result.skipped += 1;
  else if (task.result?.state === "pass") result.passed += 1;
  else result.failures.push(`${path}: ${task.result?.errors?.[0]?.message ?? "was not run"}`);
}
