import { expect } from 'vitest'
import { createForges } from '../../src-main/integrations/forges/create-forges.ts'
import { ForgeError, type ForgeSource, type NewPull } from '../../src-main/ports/forges.ts'
import { startGitea, type GiteaOptions } from '../fakes/forges/gitea.ts'

export const neverAborted = { signal: new AbortController().signal }

const name = 'team/hello'

/** A scripted Gitea with the repository `team/hello` and its branch `feature`, and what works with it. */
export async function startGiteaJob(settings: GiteaOptions = {}) {
  const server = await startGitea(settings)
  server.repository(name)
  server.git.commit(name, 'feature', 'main')
  let now = Date.UTC(2026, 0, 1)
  const restart = () =>
    createForges({ env: { GITEA_TOKEN: server.token }, clock: { now: () => now }, version: '0.0.0' })
  const forges = restart()
  const source: ForgeSource = {
    platform: 'selfhosted',
    base_url: server.url,
    owner: 'team',
    repo: 'hello',
    token_secret_ref: 'GITEA_TOKEN',
  }
  const pull: NewPull = {
    title: 'Say hello',
    body: 'It says hello.',
    head: { repository: name, branch: 'feature' },
    target: 'main',
    draft: false,
    labels: [],
    reviewers: [],
  }
  return {
    server,
    people: server.people,
    forges,
    /** What a new process would use. */
    restart,
    source,
    pull,
    wait: (ms: number) => void (now += ms),
    open: async (changed: Partial<NewPull> = {}) => forges.open(source, { ...pull, ...changed }, neverAborted),
    read: async () => forges.read(source, 1, neverAborted),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]()
      expect(server.failures).toEqual([])
    },
  }
}

/** Returns the error that a forge answers with. */
export async function refusedByForge(answer: Promise<unknown>): Promise<ForgeError> {
  const error: unknown = await answer.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ForgeError)) throw new Error('It did not fail as a forge does.', { cause: error })
  return error
}
