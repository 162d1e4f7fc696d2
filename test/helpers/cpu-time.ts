/** Milliseconds of processor time that `work` takes: unlike a clock, it does not see what else the machine does. */
export function cpuTime(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
