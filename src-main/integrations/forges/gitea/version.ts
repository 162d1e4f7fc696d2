import { parseAnswer } from '../parse-answer.ts'
import { unlessRefused } from '../unless-refused.ts'
import { label, type GiteaRepository } from './gitea-api.ts'
import { GiteaVersion } from './shapes.ts'

/** What a version of Gitea or Forgejo has beyond what all have. */
export interface GiteaFeatures {
  /** Jobs of Actions and their logs. */
  readonly jobs: boolean
  readonly rerun: boolean
  readonly resolve: boolean
  /** How an answer gets into a thread; `position`: as another comment on the same line. */
  readonly reply: 'replies' | 'review' | 'position'
}

const oldest: GiteaFeatures = { jobs: false, rerun: false, resolve: false, reply: 'position' }

/** A server is updated now and then. */
const keptMs = 3_600_000

/** Asks the server for its version. */
export async function readFeatures({ api, root, recall }: GiteaRepository): Promise<GiteaFeatures> {
  return recall(
    `${root} version`,
    () => keptMs,
    async () => {
      const answer = await unlessRefused(['not_found', 'forbidden'], () => api.send({ url: `${root}/version` }))
      return answer === null ? oldest : featuresOf(parseAnswer(GiteaVersion, answer.json, label).version)
    },
  )
}

/** Forgejo counts for itself: `11.0.3+gitea-1.22.0`. A development version has what the next one has. */
function featuresOf(version: string): GiteaFeatures {
  const [, major = '0', minor = '0'] = /^v?(\d+)(?:\.(\d+))?/.exec(version.trim()) ?? []
  // Its Actions have no such API, and its comments no resolving; but it writes into an existing review.
  if (version.includes('+gitea-')) return { ...oldest, reply: Number(major) >= 7 ? 'review' : 'position' }
  const isFrom = (wanted: number) => Number(major) > 1 || (Number(major) === 1 && Number(minor) >= wanted)
  return {
    jobs: isFrom(25),
    rerun: isFrom(26),
    resolve: isFrom(26),
    reply: isFrom(27) ? 'replies' : 'position',
  }
}
