/** The last bytes of an output. */
export interface ByteTail {
  push(bytes: Uint8Array): void
  /** Returns the last `max` bytes, or all if there were fewer: a view that is valid until the next push. */
  bytes(): Buffer
  /** Bytes of the whole output so far. */
  readonly size: number
}

/** Creates a tail with its own memory of twice `max`, allocated once, so that a flood of output creates no garbage. */
export function createByteTail(max: number): ByteTail {
  let memory: Buffer | undefined
  let used = 0
  let size = 0
  return {
    push(bytes) {
      if (bytes.length === 0) return
      memory ??= Buffer.allocUnsafeSlow(2 * max)
      size += bytes.length
      const end = bytes.subarray(Math.max(0, bytes.length - max))
      if (used + end.length > memory.length) {
        const kept = Math.min(used, max)
        memory.copyWithin(0, used - kept, used)
        used = kept
      }
      memory.set(end, used)
      used += end.length
    },
    bytes: () => memory?.subarray(Math.max(0, used - max), used) ?? Buffer.alloc(0),
    get size() {
      return size
    },
  }
}
