import { availableParallelism } from 'node:os'
import bcrypt from 'bcrypt'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { utf8Length } from '../../src-shared/lang/utf8-length.ts'

export interface Passwords {
  /** Throws `rate_limited` when too many wait already. */
  hash(password: string): Promise<string>
  /**
   * Whether the password fits. Takes as long for an account that does not exist (`hash` null) as for one that does.
   * Throws `rate_limited` when too many wait already.
   */
  verify(password: string, hash: string | null): Promise<boolean>
}

/** bcrypt's own bound: it ignores what is beyond. */
const maxBytes = 72
/** Whoever comes behind so many gives up before it is their turn. */
const maxWaiting = 200

/**
 * Passwords as bcrypt hashes of this cost. A hash takes a processor for a quarter of a second, so only so many are
 * worked on at once that one is left for everything else.
 */
export function createPasswords(cost: number): Passwords {
  // Well-formed, so that a comparison does the full work, but no password leads to it.
  const nobody = `${bcrypt.genSaltSync(cost)}${'.'.repeat(31)}`
  const inTurn = createTurns(Math.max(1, Math.min(4, availableParallelism() - 1)))
  return {
    hash: (password) => inTurn(() => bcrypt.hash(password, cost)),
    verify: async (password, hash) => {
      const matches = await inTurn(() => bcrypt.compare(password, hash ?? nobody))
      return matches && hash !== null && utf8Length(password) <= maxBytes
    },
  }
}

/** Runs at most `lanes` at once, the others in the order in which they came. */
function createTurns(lanes: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = lanes
  return async (work) => {
    if (free > 0) free -= 1
    else if (waiting.length < maxWaiting) await new Promise<void>((resolve) => waiting.push(resolve))
    else throw tooMany()
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}

const tooMany = () =>
  new ApiError({
    code: 'rate_limited',
    message: 'Too many people are signing in right now. Try again in 30 seconds.',
    details: { retry_after: 30 },
  })
