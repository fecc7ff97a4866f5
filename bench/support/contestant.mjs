// The child process: runs one contestant of one scenario and prints its result as JSON.
const [scenario, contestant, input] = process.argv.slice(2);
const { contestants } = await import(`../scenarios/${scenario}.mjs`);
const result = await contestants[contestant](JSON.parse(input));
// Exits by itself: a timer that a broken limiter has left behind must not hold up the rest.
process.stdout.write(JSON.stringify(result), () => process.exit());
