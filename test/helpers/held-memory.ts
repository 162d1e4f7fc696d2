const usedBytes = (): number => {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The bytes that this process holds after a collection. */
export function heldBytes(): number {
  if (globalThis.gc === undefined) throw new Error('node runs without --expose-gc')
  // Freed buffers are subtracted in the background, and always before the next collection.
  globalThis.gc()
  globalThis.gc()
  return usedBytes()
}

/**
 * Returns the result of some work, and whether it held more than this many bytes at once. A collection is slow in a
 * process that has run many tests, so it runs only when there is more than that, held or garbage.
 */
export async function watchHeld<Result>(
  limit: number,
  work: () => Promise<Result>,
): Promise<{ result: Result; isOver: boolean }> {
  heldBytes()
  // The leftovers of the previous test are gone a turn later.
  await new Promise(setImmediate)
  const most = heldBytes() + limit
  let isOver = false
  const watching = setInterval(() => (isOver ||= usedBytes() > most && heldBytes() > most), 5)
  const result = await work().finally(() => clearInterval(watching))
  return { result, isOver }
}
