import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { gitSilence, gitStatus } from '../../../fakes/git-http-server.ts'
import { createPushFixture, type PushFixture } from './push-fixture.ts'

/** What forges print in their hooks, as they do. */
const hooks: Readonly<Record<string, readonly [reason: string, words: string, message: RegExp]>> = {
  'GitHub protects the branch': [
    'protected',
    'error: GH006: Protected branch update failed for refs/heads/task.\nerror: Changes have been requested.',
    /^task is protected at 127/,
  ],
  'GitHub finds a secret': [
    'secret',
    'error: GH013: Repository rule violations found for refs/heads/task.\n\n- GITHUB PUSH PROTECTION\n  ————\n    - Push cannot contain secrets',
    /found a secret in the commits/,
  ],
  'GitHub finds a large file': [
    'too_large',
    "error: File a.zip is 656.59 MB; this exceeds GitHub's file size limit of 100.00 MB\nerror: GH001: Large files detected.",
    /because of its size/,
  ],
  'GitHub wants the scope for workflows': [
    'workflow_scope',
    'refusing to allow a Personal Access Token to create or update workflow `.github/workflows/ci.yml` without `workflow` scope',
    /changes a workflow file/,
  ],
  'GitLab protects the branch': [
    'protected',
    'GitLab: You are not allowed to push code to protected branches on this project.',
    /^task is protected/,
  ],
  'GitLab has a push rule': ['hook', 'GitLab: Branch name does not follow the pattern', /^A rule or hook of 127/],
  'Gitea protects the branch': [
    'protected',
    '\nerror: Not allowed to push to protected branch task',
    /^task is protected/,
  ],
}

describe('a hook of the server refuses', () => {
  test.each(Object.entries(hooks))('%s', async (_name, [reason, words, message]) => {
    await using fixture = await createPushFixture()
    const { server, name } = fixture
    await server.hook(name, 'pre-receive', `cat <<'WORDS' >&2\n${words}\nWORDS\nexit 1`)
    const refused = await fixture.refusal()
    expect(refused).toMatchObject({ code: 'rejected', reason })
    expect(refused.message).toMatch(message)
    expect(refused.output).toContain(words.trim())
    expect(await server.refs(name)).not.toHaveProperty('refs/heads/task')
    expect(await fixture.leftFiles()).toEqual([])
  })

  test('with a flood of words', async () => {
    await using fixture = await createPushFixture()
    const { server, name } = fixture
    await server.hook(name, 'pre-receive', 'seq 1 20000; printf "\\033[31mGH006: the reason\\033[0m\\n"; exit 1')
    const { output, reason } = await fixture.refusal()
    expect(reason).toBe('protected')
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(8 * 1024)
    expect(output).toMatch(/^1\d{4}\n[^]*\n20000\nGH006: the reason\n/)
  })
})

const pushing = (url: string) => url.includes('git-receive-pack')

describe('the server answers', () => {
  test.each([
    [403, 'Permission to acme/shop.git denied to someone.', 'forbidden', null],
    [403, 'This repository was archived so it is read-only.', 'archived', null],
    [404, 'Repository not found.', 'not_found', null],
    [413, '', 'rejected', 'too_large'],
    [429, '', 'unreachable', null],
    [500, '', 'unreachable', null],
    [503, 'Down for maintenance', 'unreachable', null],
  ])('%i %s', async (status, words, code, reason) => {
    await using fixture = await createPushFixture()
    fixture.server.instead = ({ method, url }) =>
      pushing(url) && (status !== 413 || method === 'POST') ? gitStatus(status, words) : null
    const refused = await fixture.refusal()
    expect(refused).toMatchObject({ code, reason })
    expect(refused.output).toContain(words)
  })

  test('nothing, since there is none', async () => {
    await using fixture = await createPushFixture()
    const refused = await fixture.refusal({ url: 'http://127.0.0.1:9/acme/shop.git' })
    expect(refused).toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/^127\.0\.0\.1:9 can’t be reached/) as unknown,
    })
  })

  test('with a certificate that nobody trusts', async () => {
    await using fixture = await createPushFixture()
    const [cert, key] = await Promise.all(
      ['cert.pem', 'key.pem'].map((name) => readFile(join(import.meta.dirname, '../../../fixtures/tls', name))),
    )
    const server = createServer({ cert, key }, (_request, response) => response.end())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const refused = await fixture.refusal({
        url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/a.git`,
      })
      expect(refused).toMatchObject({ code: 'unreachable' })
      expect(refused.message).toMatch(/its certificate isn’t trusted/)
    } finally {
      server.close()
    }
  })

  test('nothing for too long, at the first word or in the middle', async () => {
    await using fixture = await createPushFixture({ limits: { look_ms: 500, push_ms: 1_500 } })
    const { server } = fixture
    server.instead = () => gitSilence
    expect(await fixture.refusal()).toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/didn’t answer for 1 seconds/) as unknown,
    })
    server.instead = ({ method }) => (method === 'POST' ? gitSilence : null)
    expect(await fixture.refusal()).toMatchObject({ code: 'unreachable' })
    await noGitLeft(fixture)
  })
})

test('ends all that it has started when it is cancelled in the middle', async () => {
  await using fixture = await createPushFixture()
  const { server, name, repository } = fixture
  const cancel = new AbortController()
  const mark = join(repository.beside, 'reached')
  await server.hook(name, 'pre-receive', `touch '${mark}'; read line < '${join(repository.beside, 'never')}'`)
  execFileSync('mkfifo', [join(repository.beside, 'never')])
  const pushed = fixture.push({}, cancel.signal)
  await expect.poll(() => existsSync(mark)).toBe(true)
  cancel.abort(new Error('no more'))
  await expect(pushed).rejects.toThrow('no more')
  await noGitLeft(fixture)
})

/** Sees that no process of a push is left, and none of its files. */
async function noGitLeft({ leftFiles, repository }: PushFixture): Promise<void> {
  expect(await leftFiles()).toEqual([])
  if (process.platform !== 'linux') return
  const folder = `${repository.path}/.git/copse-transport-`
  const left = readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(folder)
      } catch (error) {
        // It ended, or belongs to another user.
        if (error instanceof Error && 'code' in error) return false
        throw error
      }
    })
  expect(left).toEqual([])
}
