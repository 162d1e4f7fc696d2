import { timingSafeEqual } from 'node:crypto'
import { createSecret, hashToken } from './opaque-tokens.ts'

const maxWrong = 10

/** The code that the first account of an exposed service needs; new at each start, in memory only. */
export interface SetupCode {
  /** null once it is void. */
  readonly code: string | null
  /** Whether this is it. A wrong one counts; the tenth makes it void. */
  check(given: string): boolean
  /** As `check`, but counts nothing. */
  fits(given: string): boolean
}

export function createSetupCode(onVoid: () => void): SetupCode {
  const code = createSecret()
  const hash = Buffer.from(hashToken(code))
  let wrong = 0
  const fits = (given: string) => wrong < maxWrong && timingSafeEqual(Buffer.from(hashToken(given)), hash)
  return {
    get code() {
      return wrong < maxWrong ? code : null
    },
    check: (given) => {
      if (fits(given)) return true
      wrong += 1
      if (wrong === maxWrong) onVoid()
      return false
    },
    fits,
  }
}
