import { type App, environmentOf } from "../app/app.js";
import { failureText } from "./failure-text.js";
import { type Host, realHost } from "./host.js";
import type { RunOptions } from "../app/run-handle.js";
import { SignalledStop } from "./signalled-stop.js";

/**
 * Runs an app as the main program of the process: runs it, stops its environment (not a parent of that), prints what
 * has failed with its causes, and sets `process.exitCode`: 1 when main, the start or the stop has failed, 130 after
 * SIGINT, 143 after SIGTERM, however main ended; else it stays as it is, or becomes 0. The process ends by itself when
 * nothing is left to do.
 *
 * The first SIGINT or SIGTERM stops the environment, which lets what is in flight finish, at most `drainTimeoutMs`. The
 * second aborts what is left and exits after 2 s unless all is closed before. The third exits at once. It listens for
 * these signals only until it returns. Where there is no `process`, there are no signals and no exit code.
 *
 * @param options - As for `app.run`.
 * @returns Resolves when all is closed, also after a failure: never rejects.
 * @example
 * await runMain(new App("crawl", crawl, urls));
 */
export async function runMain(app: App<unknown[], unknown>, options?: RunOptions): Promise<void> {
  await runMainOn(realHost(), app, options);
}

/** `runMain` on a process that tests can replace. */
export async function runMainOn(
  host: Host,
  app: App<unknown[], unknown>,
  options?: RunOptions,
): Promise<void> {
  let code = 0;
  const report = (what: string, error: unknown): void => {
    code = 1;
    host.print(`${what}\n${failureText(error)}`);
  };
  let stop: SignalledStop | undefined;
  try {
    stop = new SignalledStop(host, environmentOf(app));
  } catch (error) {
    report("The main program has not begun.", error);
  }
  if (stop !== undefined) {
    await app.run(options).catch((error: unknown) => {
      if (!stop.hasCaused(error)) report(`App "${app.name}" failed.`, error);
    });
    await stop.stop().catch((error: unknown) => {
      if (!stop.hasCaused(error)) report(`App "${app.name}" did not close cleanly.`, error);
    });
    stop.leave();
  }
  const { process } = host;
  if (process !== undefined) process.exitCode = stop?.exitCode ?? (code || (process.exitCode ?? 0));
}
