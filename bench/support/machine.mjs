import { cpus, loadavg } from "node:os";

/** One line on what the figures were measured on. */
export function machine() {
  const processors = cpus();
  const load = loadavg()[0].toFixed(1);
  return `${processors[0].model}, ${String(processors.length)} cores, load ${load}, Node ${process.version}`;
}
