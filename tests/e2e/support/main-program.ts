import { type ChildProcess, spawn } from "node:child_process";
import type { Finished } from "../../support/run-node.js";

const LONGEST_MS = 60_000;

/** A program that runs, is told things by signals, and ends. One that hangs is killed. */
export class MainProgram {
  /** Settles when it has ended. `code` is null when a signal has killed it. */
  readonly ended: Promise<Finished>;
  readonly #child: ChildProcess;
  #stdout = "";
  #stderr = "";
  #look = (): void => undefined;

  constructor(command: string, args: readonly string[], cwd: string) {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, NODE_OPTIONS: "" },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: LONGEST_MS,
      killSignal: "SIGKILL",
    });
    this.#child = child;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.#stdout += text;
      this.#look();
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr += text;
      this.#look();
    });
    this.ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => {
        resolve({ code, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  /** Waits until it has written `text`, to stdout or stderr. */
  async says(text: string): Promise<void> {
    const said = new Promise<void>((resolve) => {
      this.#look = () => {
        if (`${this.#stdout}\n${this.#stderr}`.includes(text)) resolve();
      };
      this.#look();
    });
    const isOver = await Promise.race([said.then(() => false), this.ended.then(() => true)]);
    if (isOver && !`${this.#stdout}\n${this.#stderr}`.includes(text)) {
      throw new Error(`It has ended without saying "${text}": ${this.#stdout}${this.#stderr}`);
    }
  }

  /** Sends a signal to the process that was started, or to another one. */
  tell(signal: NodeJS.Signals, pid = this.pid): void {
    process.kill(pid, signal);
  }

  /** What it has written to stdout so far. */
  get stdout(): string {
    return this.#stdout;
  }

  /** The process that was started. */
  get pid(): number {
    return this.#child.pid as number;
  }

  /** What the program itself said that its pid is, which is another one where it was started through a command. */
  get pidSaid(): number {
    return Number(/^process (\d+)$/m.exec(this.#stdout)?.[1]);
  }

  /** Kills what is left of it, so that a test that fails leaves nothing behind. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.ended;
  }
}
