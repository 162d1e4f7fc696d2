import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'
import { timeOfId } from '../../src-shared/lang/time-of-id.ts'

/**
 * Returns a maker of UUIDv7s that always grow, also after the clock went back: `newest` is the last ID of an earlier
 * process. Records are in the order in which they were made, whatever their times say.
 */
export function createGrowingIds(newest: string | null, now: () => number = Date.now): () => string {
  // Above whatever the earlier process counted in that millisecond.
  let msecs = newest === null ? 0 : timeOfId(newest) + 1
  let seq = 0
  const random = createRandomBytes()
  return () => {
    const time = now()
    if (time > msecs) {
      msecs = time
      seq = 0
    } else seq += 1
    if (seq > maxSeq) {
      msecs += 1
      seq = 0
    }
    return v7({ msecs, seq, random: random() })
  }
}

/** The sequence of a UUIDv7 has 32 bits, of which the first stays free to grow. */
const maxSeq = 0x7fff_ffff

const idBytes = 16
/** Random bytes of this many IDs are made at once, because each time costs as much as the rest of an ID. */
const madeAtOnce = 256

/** Returns a maker of 16 random bytes, each given once. */
function createRandomBytes(): () => Uint8Array {
  const pool = new Uint8Array(idBytes * madeAtOnce)
  let at = pool.length
  return () => {
    if (at === pool.length) {
      randomFillSync(pool)
      at = 0
    }
    at += idBytes
    return pool.subarray(at - idBytes, at)
  }
}
