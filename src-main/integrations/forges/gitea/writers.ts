import { parseItems } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import type { GiteaRepository } from './gitea-api.ts'
import { GiteaUser } from './shapes.ts'

/** Logins in lower case; null: not told. */
export type Writers = ReadonlySet<string> | null

const keptMs = 600_000

/**
 * Returns who may write to the repository: whom an issue can be assigned to. Their permissions themselves are told to
 * administrators only.
 */
export async function readWriters({ api, url, key, recall }: GiteaRepository): Promise<Writers> {
  return recall(
    `${key} writers`,
    () => keptMs,
    async () => {
      const items = await unlessRefused(['forbidden', 'not_found'], () => api.list(`${url}/assignees`))
      return items && new Set(parseItems(GiteaUser, items).map(({ login }) => login.toLowerCase()))
    },
  )
}
