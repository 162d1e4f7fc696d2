import { expect } from 'vitest'
import { createForges } from '../../src-main/integrations/forges/create-forges.ts'
import type { ForgeSource, NewPull } from '../../src-main/ports/forges.ts'
import { startGitlab, type GitlabOptions } from '../fakes/forges/gitlab.ts'
import { neverAborted } from './forge-job.ts'

/** Of a group in a group. */
export const path = 'group/sub/hello'

/** A scripted GitLab with the project `group/sub/hello` and its branch `feature`, and what works with it. */
export async function startGitlabJob(settings: GitlabOptions = {}) {
  const server = await startGitlab(settings)
  const project = server.project(path)
  server.git.commit(path, 'feature', 'main')
  let now = Date.now()
  const forges = createForges({
    env: { GITLAB_TOKEN: server.token },
    clock: { now: () => now },
    version: '0.0.0',
  })
  const source: ForgeSource = {
    platform: 'gitlab',
    base_url: server.url,
    owner: 'group/sub',
    repo: 'hello',
    token_secret_ref: 'GITLAB_TOKEN',
  }
  const pull: NewPull = {
    title: 'Say hello',
    body: 'It says hello.',
    head: { repository: path, branch: 'feature' },
    target: 'main',
    draft: false,
    labels: [],
    reviewers: [],
  }
  return {
    server,
    project,
    people: server.people,
    forges,
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
