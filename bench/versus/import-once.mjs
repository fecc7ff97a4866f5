// The child process: prints how long the import of a file takes in a process that has loaded nothing else, in ms.
const started = performance.now();
await import(process.argv[2]);
const elapsed = performance.now() - started;
process.stdout.write(String(elapsed), () => process.exit());
