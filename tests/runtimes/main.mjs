/**
 * `npm run test:runtimes`: runs the suites that look at nothing but what the package exports on each platform that it is
 * for, on the package as npm would publish it; then compiles a consumer with each TypeScript. A word picks some:
 * `npm run test:runtimes -- bun`. Exits with 1 when anything fails, or when fewer suites ran than should.
 */
import { PLACES, runIn } from "./places.mjs";
import { checkTypes } from "./types.mjs";
import { openWorkshop } from "./workshop.mjs";

/** Fewer would mean that suites have dropped out without anybody noticing. */
const LEAST_TESTS = { "rate-limit": 200, "rate-limit,context,lifespan": 500 };

const word = process.argv.slice(2).join(" ").toLowerCase();
openWorkshop();
let faults = 0;
const report = (name, text, failures) => {
  console.log(`${name.padEnd(24)} ${text}`);
  for (const failure of failures) console.error(`  FAILED ${failure}`);
  faults += failures.length;
};

for (const place of PLACES.filter(({ name }) => name.toLowerCase().includes(word))) {
  try {
    const { version, suites, passed, skipped, failures } = await runIn(place);
    const least = LEAST_TESTS[place.folders.join()];
    if (passed < least)
      failures.push(`only ${String(passed)} tests passed, ${String(least)} at least are there`);
    report(
      place.name,
      `${version}: ${passed} passed, ${failures.length} failed, ${skipped} skipped, in ${suites} suites`,
      failures,
    );
  } catch (error) {
    report(place.name, "broke down", [error.stderr || error.stack]);
  }
}
if ("typescript".includes(word)) {
  for (const { name, failures } of await checkTypes()) {
    report(name, failures.length === 0 ? "compiles" : "does not compile", failures);
  }
}
process.exitCode = faults === 0 ? 0 : 1;
