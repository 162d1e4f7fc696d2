/** Bytes that this process holds after a collection: what is left, somebody has. */
export function heldBytes(): number {
  if (globalThis.gc === undefined) throw new Error('node runs without --expose-gc')
  // Freed buffers are counted off behind a collection, and surely before the next.
  globalThis.gc()
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** What came of some work, and the most bytes that it held at once, looked at ten times a second. */
export async function watchHeld<Result>(work: () => Promise<Result>): Promise<{ result: Result; most: number }> {
  heldBytes()
  // What the test before was still about to end is gone a turn later.
  await new Promise(setImmediate)
  const before = heldBytes()
  let most = 0
  const watching = setInterval(() => (most = Math.max(most, heldBytes() - before)), 100)
  const result = await work().finally(() => clearInterval(watching))
  return { result, most: Math.max(most, heldBytes() - before) }
}
