import { availableParallelism } from 'node:os'
import bcrypt from 'bcrypt'
import { ApiError } from '../../src-shared/contract/errors.ts'
import { utf8Length } from '../../src-shared/lang/utf8-length.ts'

export interface Passwords {
  /** Throws `rate_limited` if too many calls wait. */
  hash(password: string): Promise<string>
  /**
   * Returns whether the password matches. Takes as long for an account that does not exist (`hash` null) as for one
   * that does. Throws `rate_limited` if too many calls wait.
   */
  verify(password: string, hash: string | null): Promise<boolean>
}

/** bcrypt's own limit: it ignores further bytes. */
const maxBytes = 72
/** Callers beyond this queue length would give up before their turn. */
const maxWaiting = 200

/**
 * Hashes passwords by bcrypt with this cost. A hash takes a processor for a quarter of a second, so one processor is
 * always left for other work.
 */
export function createPasswords(cost: number): Passwords {
  // Well-formed, so that a comparison does the full work, but matches no password.
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

/** Runs at most `lanes` calls at once, the others in order of arrival. */
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
