/**
 * Milliseconds of CPU time that this process has used so far. Unlike the time on a clock it does not grow while other
 * programs hold the processor, so that a busy machine gives the same figures as an idle one.
 */
export function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
