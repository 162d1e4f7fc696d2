import type { TokenRight } from '../../../../src-shared/contract/pull-requests.ts'
import { ForgeError, type TokenCheck } from '../../../ports/forges.ts'
import type { GiteaRepository } from './gitea-api.ts'
import { readRepository } from './pulls.ts'
import { readFeatures } from './version.ts'

/** Finds out what the token may do. Reading shows no scope for writing: that one stays unknown. */
export async function checkToken(repository: GiteaRepository): Promise<TokenCheck> {
  const { api, url } = repository
  const features = await readFeatures(repository)
  const record = await unlessScope(readRepository(repository))
  const pulls = record === 'missing' ? 'missing' : await unlessScope(api.send({ url: `${url}/pulls?limit=1` }))
  const issues = await unlessScope(api.send({ url: `${url}/issues?limit=1` }))
  const jobs = features.jobs && pulls !== 'missing' ? await readsJobs(repository) : false
  return {
    can: {
      checks: pulls === 'missing' ? 'none' : 'all',
      logs: jobs,
      rerun: jobs && features.rerun,
      reply: true,
      resolve: features.resolve,
      draft: true,
      auto_merge: true,
      queue: false,
    },
    rights: [
      scope('write:repository', 'Pull requests, checks, reviews and merging', pulls === 'missing'),
      scope('write:issue', 'Comments, labels and issues', issues === 'missing'),
      {
        right: 'Write access to the repository',
        needed_for: 'Pushing and merging',
        state: record === 'missing' || record.may_push === null ? 'unknown' : record.may_push ? 'ok' : 'missing',
      },
    ],
    token_expires_at: null,
  }
}

const scope = (right: string, needed_for: string, isMissing: boolean): TokenRight => ({
  right: `${right} (Settings, Applications, Access tokens)`,
  needed_for,
  state: isMissing ? 'missing' : 'unknown',
})

/** Answers `missing` where the forge names a scope that the token lacks. */
async function unlessScope<T>(answer: Promise<T>): Promise<T | 'missing'> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof ForgeError && error.code === 'forbidden' && error.right !== null) return 'missing'
    throw error
  }
}

/** Actions may be switched off, at the server or for the repository. */
async function readsJobs({ api, url }: GiteaRepository): Promise<boolean> {
  try {
    await api.send({ url: `${url}/actions/runs?limit=1` })
    return true
  } catch (error) {
    if (error instanceof ForgeError && ['not_found', 'forbidden'].includes(error.code)) return false
    throw error
  }
}
