const usedBytes = (): number => {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Bytes that this process holds after a collection: what is left, somebody has. */
export function heldBytes(): number {
  if (globalThis.gc === undefined) throw new Error('node runs without --expose-gc')
  // Freed buffers are counted off behind a collection, and surely before the next.
  globalThis.gc()
  globalThis.gc()
  return usedBytes()
}

/**
 * What came of some work, and whether it held more than so many bytes at once. A collection takes long in a process
 * that has run many tests: it is for those moments alone in which there is more than that, held or garbage.
 */
export async function watchHeld<Result>(
  limit: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; isOver: boolean }> {
  heldBytes()
  // What the test before was still about to end is gone a turn later.
  await new Promise(setImmediate)
  const most = heldBytes() + limit
  let isOver = false
  const watching = setInterval(() => (isOver ||= usedBytes() > most && heldBytes() > most), 5)
  const result = await work().finally(() => clearInterval(watching))
  return { result, isOver }
}
