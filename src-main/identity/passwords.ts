import bcrypt from 'bcrypt'
import { utf8Length } from '../../src-shared/lang/utf8-length.ts'

export interface Passwords {
  hash(password: string): Promise<string>
  /** Whether the password fits. Takes as long for an account that does not exist (`hash` null) as for one that does. */
  verify(password: string, hash: string | null): Promise<boolean>
}

/** bcrypt's own bound: it ignores what is beyond. */
const maxBytes = 72

/** Passwords as bcrypt hashes of this cost. */
export function createPasswords(cost: number): Passwords {
  // Well-formed, so that a comparison does the full work, but no password leads to it.
  const nobody = `${bcrypt.genSaltSync(cost)}${'.'.repeat(31)}`
  return {
    hash: (password) => bcrypt.hash(password, cost),
    verify: async (password, hash) => {
      const matches = await bcrypt.compare(password, hash ?? nobody)
      return matches && hash !== null && utf8Length(password) <= maxBytes
    },
  }
}
