import { expect, test } from 'vitest'
import { createForges } from '../../../../src-main/integrations/forges/create-forges.ts'
import type { ForgeSource, MergeMethod, Pull } from '../../../../src-main/ports/forges.ts'
import type { Mount } from '../../../fakes/forges/forge-server.ts'
import { startGitea } from '../../../fakes/forges/gitea.ts'
import { startGitlab } from '../../../fakes/forges/gitlab.ts'
import { createGitHosting } from '../../../fakes/git-http-server.ts'
import { bareForgeGit } from '../../../helpers/bare-forge-git.ts'
import { neverAborted } from '../../../helpers/forge-job.ts'
import { createTestRepository } from '../../../helpers/git-repository.ts'

const name = 'team/hello'

const forge = {
  gitea: { platform: 'selfhosted', user: 'robot' },
  gitlab: { platform: 'gitlab', user: 'oauth2' },
} as const

/** A forge before real bare repositories, and a clone from which is pushed over HTTP with the token. */
async function start(kind: keyof typeof forge) {
  const hosting = await createGitHosting()
  await hosting.create(name)
  await using stack = new AsyncDisposableStack()
  stack.use(hosting)
  const git = bareForgeGit(hosting)
  const mount: Mount = (request, response) =>
    request.url?.includes('.git/') === true && hosting.handle(request, response)
  const server = await (kind === 'gitea' ? startGitea({ git, mount }) : startGitlab({ git, mount }))
  stack.use(server)
  if ('repository' in server) server.repository(name)
  else server.project(name)
  hosting.tokens.add(server.token)
  const clone = await createTestRepository()
  stack.use(clone)
  const { host } = new URL(server.url)
  const remote = `http://${forge[kind].user}:${server.token}@${host}/${name}.git`
  await clone.git(['remote', 'add', 'origin', remote])
  await clone.git(['push', '--quiet', 'origin', 'HEAD:main'])
  const source: ForgeSource = {
    platform: forge[kind].platform,
    base_url: server.url,
    owner: 'team',
    repo: 'hello',
    token_secret_ref: 'TOKEN',
  }
  const forges = createForges({ env: { TOKEN: server.token }, clock: { now: Date.now }, version: '0.0.0' })
  const resources = stack.move()
  return {
    server,
    hosting,
    clone,
    push: async (branch: string, files: Readonly<Record<string, string>>) => {
      await clone.commit(`Change ${branch}`, files)
      await clone.git(['push', '--quiet', 'origin', `HEAD:${branch}`])
      return clone.git(['rev-parse', 'HEAD'])
    },
    open: async (branch: string): Promise<Pull> =>
      forges.open(
        source,
        {
          title: `Merge ${branch}`,
          body: '',
          head: { repository: name, branch },
          target: 'main',
          draft: false,
          labels: [],
          reviewers: [],
        },
        neverAborted,
      ),
    read: async (number: number) => forges.read(source, number, neverAborted),
    merge: async (number: number, method: MergeMethod, head: string) =>
      forges.merge(source, number, { method, head }, neverAborted),
    [Symbol.asyncDispose]: async () => resources.disposeAsync(),
  }
}

test.each(['gitea', 'gitlab'] as const)('a scripted %s merges pushed branches by real git', async (kind) => {
  await using at = await start(kind)
  for (const method of ['merge', 'squash'] as const) {
    const head = await at.push(method, { [`${method}.txt`]: 'new\n' })
    const { number } = await at.open(method)
    expect((await at.read(number)).head.commit).toBe(head)
    const commit = await at.merge(number, method, head)
    expect(commit).toBe(await at.hosting.git(name, ['rev-parse', 'refs/heads/main']))
    expect(await at.hosting.git(name, ['show', `main:${method}.txt`])).toBe('new')
    const parents = (await at.hosting.git(name, ['rev-list', '--parents', '-1', 'main'])).split(' ').length - 1
    expect(parents).toBe(method === 'merge' ? 2 : 1)
  }
})

test('a scripted Gitea rebases, and finds conflicts, by real git', async () => {
  await using at = await start('gitea')
  const base = await at.clone.git(['rev-parse', 'HEAD'])
  await at.push('main', { 'other.txt': 'main\n' })
  await at.clone.git(['reset', '--hard', '--quiet', base])
  const head = await at.push('feature', { 'feature.txt': 'feature\n' })
  const { number } = await at.open('feature')
  await at.read(number)
  const commit = await at.merge(number, 'rebase', head)
  expect(commit).not.toBe(head)
  expect((await at.hosting.git(name, ['log', '--format=%s', 'main'])).split('\n').slice(0, 2)).toEqual([
    'Change feature',
    'Change main',
  ])
  await at.clone.git(['reset', '--hard', '--quiet', base])
  await at.push('conflict', { 'other.txt': 'another\n' })
  const conflicting = await at.open('conflict')
  await at.read(conflicting.number)
  expect((await at.read(conflicting.number)).mergeable).not.toBe(true)
})
