/** The number of ports of a worktree. */
export const portsPerWorktree = 10

/** Below the ephemeral ports of Linux, macOS and Windows, above the ports of well-known servers. */
const firstPort = 20_000
const ranges = 1_276

/**
 * Yields the first ports of all ranges, each once; ranges do not overlap. The order follows from the task's ID, so a
 * task tends to get the same ports again, and several installations on one machine seldom collide.
 */
export function* portBases(task_id: string): Generator<number> {
  const digits = task_id.replaceAll(/[^0-9a-f]/gi, '').slice(-8)
  const start = Number.parseInt(digits || '0', 16)
  for (let step = 0; step < ranges; step += 1) {
    yield firstPort + ((start + step) % ranges) * portsPerWorktree
  }
}

/** Returns all ports of the range that starts at `base`. */
export function portsFrom(base: number): readonly number[] {
  return Array.from({ length: portsPerWorktree }, (_, index) => base + index)
}
