/** How many ports a worktree has. */
export const portsPerWorktree = 10

/** Below the ports that Linux, macOS and Windows hand out by themselves, above those of well-known servers. */
const firstPort = 20_000
const ranges = 1_276

/**
 * The first ports of all ranges, each once, no two ranges overlapping. Which comes first follows from the task's
 * id: so a task tends to get the same ports again, and several installations on one machine seldom meet.
 */
export function* portBases(task_id: string): Generator<number> {
  const digits = task_id.replaceAll(/[^0-9a-f]/gi, '').slice(-8)
  const start = Number.parseInt(digits || '0', 16)
  for (let step = 0; step < ranges; step += 1) {
    yield firstPort + ((start + step) % ranges) * portsPerWorktree
  }
}

/** All ports of the range that begins with `base`. */
export function portsFrom(base: number): readonly number[] {
  return Array.from({ length: portsPerWorktree }, (_, index) => base + index)
}
