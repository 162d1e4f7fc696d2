import type { HttpAnswer } from './http.ts'

/** Together about the answers of two hundred pull requests. */
const maxChars = 16_777_216

interface KnownAnswer {
  readonly etag: string
  readonly answer: HttpAnswer
}

/** Creates a store of answers with their ETags; the ones that weren't asked for longest go first. */
export function createAnswerCache() {
  const known = new Map<string, KnownAnswer>()
  let chars = 0
  const remove = (key: string, entry: KnownAnswer) => {
    known.delete(key)
    chars -= entry.answer.text.length
  }
  return {
    /** `digest` is that of the token: what one sees, another may not. */
    get: (digest: string, url: string): KnownAnswer | null => {
      const key = `${digest} ${url}`
      const entry = known.get(key)
      if (!entry) return null
      known.delete(key)
      known.set(key, entry)
      return entry
    },
    put: (digest: string, url: string, answer: HttpAnswer): void => {
      const key = `${digest} ${url}`
      const former = known.get(key)
      if (former) remove(key, former)
      const etag = answer.header('etag')
      if (etag === null || answer.text.length > maxChars / 8) return
      known.set(key, { etag, answer })
      chars += answer.text.length
      for (const [oldest, entry] of known) {
        if (chars <= maxChars) return
        remove(oldest, entry)
      }
    },
  }
}
