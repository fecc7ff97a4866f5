import { spawn } from "node:child_process";

export interface Finished {
  /** Null when it was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs Node with `args` in `cwd`, without the options that jest itself needs, and waits for its end. */
export function runNode(args: readonly string[], cwd: string): Promise<Finished> {
  return run(process.execPath, args, cwd);
}

const LONGEST_MS = 60_000;

/** Runs a program and waits for its end. One that hangs is killed. Rejects only when it cannot be started. */
export function run(command: string, args: readonly string[], cwd: string): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, NODE_OPTIONS: "" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: LONGEST_MS,
      killSignal: "SIGKILL",
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (code) => {
      resolve({ code, stdout, stderr });
    });
  });
}
