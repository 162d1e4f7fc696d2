import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createGit } from '../../../../src-main/git/create-git.ts'
import type { ConfiguredPrograms } from '../../../../src-main/ports/repository-reader.ts'
import { createPushFixture, never, token, type PushFixture } from './push-fixture.ts'

async function writeHook({ repository }: PushFixture, script: string, folder = '.git/hooks'): Promise<string> {
  const path = join(repository.path, folder)
  await mkdir(path, { recursive: true })
  const file = join(path, 'pre-push')
  await writeFile(file, `#!/bin/sh\n${script}\n`)
  await chmod(file, 0o755)
  return file
}

/** A fixture whose repository is trusted as it is at the call of `trust`. */
async function createTrusting() {
  let programs: ConfiguredPrograms = {}
  const fixture = await createPushFixture({ trusted: () => programs })
  return {
    ...fixture,
    trust: async () => {
      const { repositories } = createGit()
      programs = (await repositories.programs(fixture.repository.path, { signal: never })).programs
    },
  }
}

describe('a trusted pre-push hook', () => {
  test('runs in the repository, as git runs it', async () => {
    await using fixture = await createTrusting()
    const { repository, url, work } = fixture
    const told = join(repository.beside, 'told')
    await writeHook(
      fixture,
      `{ echo "$@"; cat; pwd; git rev-parse --show-toplevel --verify HEAD; env | grep -c '^GIT_DIR=\\|^GIT_OBJECT_DIRECTORY='; true; } > '${told}'`,
    )
    await fixture.trust()
    expect(await fixture.push({ remote: 'origin', remote_branch: 'there' })).toMatchObject({ after: work, hook: 'ran' })
    expect((await readFile(told, 'utf8')).trimEnd().split('\n')).toEqual([
      `origin ${url}`,
      `refs/heads/task ${work} refs/heads/there ${'0'.repeat(40)}`,
      repository.path,
      repository.path,
      fixture.first,
      '0',
    ])
    expect(await fixture.push({ remote_branch: 'other' })).toMatchObject({ hook: 'ran' })
    expect(await readFile(told, 'utf8')).toMatch(new RegExp(`^${url} ${url}\n`))
  })

  test('refuses the push with its own words', async () => {
    await using fixture = await createTrusting()
    await writeHook(fixture, `echo "not with ${token}" >&2; printf '\\033[1mrun the tests first\\033[0m\\n'; exit 3`)
    await fixture.trust()
    const refused = await fixture.refusal()
    expect(refused).toMatchObject({ code: 'rejected', reason: 'hook' })
    expect(refused.message).toBe('The repository’s pre-push hook refused the push.')
    expect(refused.output).toBe('not with [redacted]\nrun the tests first')
    expect(await fixture.server.refs(fixture.name)).not.toHaveProperty('refs/heads/task')
  })

  test('is the user’s own, from the folder that their configuration names', async () => {
    await using fixture = await createTrusting()
    const { repository } = fixture
    await writeHook(fixture, 'exit 1', '../beside/hooks')
    await fixture.configure('[core]\n\thooksPath = ~/hooks\n')
    await fixture.trust()
    expect(await fixture.refusal()).toMatchObject({ reason: 'hook' })
    await writeHook(fixture, 'exit 0', '../beside/hooks')
    expect(await fixture.push()).toMatchObject({ hook: 'ran' })
    expect(repository.beside).toBe(process.env['HOME'])
  })

  test('is that of the folder that the repository named when it was added', async () => {
    await using fixture = await createTrusting()
    await fixture.repository.git(['config', 'core.hooksPath', '.husky/_'])
    await writeHook(fixture, 'exit 1', '.husky/_')
    await fixture.trust()
    expect(await fixture.refusal()).toMatchObject({ reason: 'hook' })
  })

  test('gets the token for its uploads as git-lfs asks for it, and for no other host', async () => {
    await using fixture = await createTrusting()
    const { repository, server } = fixture
    const { host } = new URL(server.url)
    const asked = join(repository.beside, 'asked')
    const prompts = [
      `Username for "http://${host}"`,
      `Password for "http://x-access-token@${host}"`,
      `Password for "http://x-access-token@${host}/acme/shop.git/info/lfs"`,
      `Password for 'http://x-access-token@${host}': `,
      'Password for "http://x-access-token@evil.example"',
      `Password for "http://x-access-token@${host}.evil.example"`,
      `Password for "http://x-access-token@${host}@evil.example"`,
      `Password for "http://evil.example/http://x-access-token@${host}"`,
      `Password for "https://x-access-token@${host}"`,
      'Enter passphrase for key: ',
    ]
    const quoted = prompts.map((prompt) => `'${prompt.replaceAll("'", String.raw`'\''`)}'`).join(' ')
    await writeHook(
      fixture,
      `for p in ${quoted}; do "$GIT_ASKPASS" "$p" >> '${asked}' 2>&1 || echo none >> '${asked}'; done\n` +
        `git config --get-all credential.helper | tail -n 1 >> '${asked}'`,
    )
    await fixture.configure('[credential]\n\thelper = store\n')
    await fixture.trust()
    await fixture.push()
    expect((await readFile(asked, 'utf8')).split('\n')).toEqual([
      'x-access-token',
      token,
      token,
      token,
      ...Array<string>(6).fill('none'),
      '',
      '',
    ])
  })

  test('doesn’t run where nothing has to be pushed', async () => {
    await using fixture = await createTrusting()
    await fixture.push()
    await writeHook(fixture, 'exit 1')
    await fixture.trust()
    expect(await fixture.push()).toMatchObject({ after: fixture.work, hook: 'none' })
  })
})

describe('a hook that a run could have written doesn’t run', () => {
  test.each<[string, (fixture: PushFixture, script: string) => Promise<unknown>]>([
    ['made', (fixture, script) => writeHook(fixture, script)],
    [
      'in a folder that is named since',
      async (fixture, script) => {
        await writeHook(fixture, script, 'planted')
        await fixture.repository.git(['config', 'core.hooksPath', 'planted'])
      },
    ],
    [
      'beside another that is new',
      async (fixture, script) => {
        await writeHook(fixture, script)
        await writeFile(join(fixture.repository.path, '.git/hooks/post-update'), '#!/bin/sh\n')
      },
    ],
  ])('%s', async (_name, plant) => {
    await using fixture = await createTrusting()
    await writeFile(join(fixture.repository.path, '.git/hooks/commit-msg'), '#!/bin/sh\n')
    await fixture.trust()
    await plant(fixture, 'exit 1')
    expect(await fixture.push()).toMatchObject({ after: fixture.work, hook: 'untrusted' })
  })

  test('changed', async () => {
    await using fixture = await createTrusting()
    await writeHook(fixture, 'exit 0')
    await fixture.trust()
    expect(await fixture.push({ remote_branch: 'a' })).toMatchObject({ hook: 'ran' })
    await writeHook(fixture, 'exit 1')
    expect(await fixture.push()).toMatchObject({ after: fixture.work, hook: 'untrusted' })
  })

  test('in a folder that is named since, but the one of before does', async () => {
    await using fixture = await createTrusting()
    await writeHook(fixture, 'exit 0')
    await fixture.trust()
    await writeHook(fixture, 'exit 1', 'planted')
    await fixture.repository.git(['config', 'core.hooksPath', 'planted'])
    expect(await fixture.push()).toMatchObject({ after: fixture.work, hook: 'ran' })
  })
})
