// The child process: measures one adapter in one row and prints the values as JSON.
import { loadRow } from "./rows.mjs";

const [name, file] = process.argv.slice(2);
const row = await loadRow(name);
const values = await row.measure((await import(file)).default);
// Exits by itself: timers that a limiter has left behind must not hold up the rest.
if (values !== undefined) process.stdout.write(JSON.stringify(values), () => process.exit());
