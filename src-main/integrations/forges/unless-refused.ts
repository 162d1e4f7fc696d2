import { ForgeError } from '../../ports/forges.ts'

/** Answers null where the forge refuses with one of these codes: the rest of what is asked doesn't depend on it. */
export async function unlessRefused<T>(
  codes: readonly ForgeError['code'][],
  load: () => Promise<T>,
): Promise<T | null> {
  try {
    return await load()
  } catch (error) {
    if (error instanceof ForgeError && codes.includes(error.code)) return null
    throw error
  }
}
