import { existsSync, watch } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createFixture, never } from './workspace-fixture.ts'

test('copies listed files and globs once, and keeps tracked and present ones', async () => {
  await using fixture = await createFixture({ files: { '.gitignore': '.env*\nlocal/\n', 'README.md': 'r\n' } })
  await fixture.repository.write({
    '.env': 'A=1\n',
    '.env.test': 'B=2\n',
    'local/deep/x': 'x\n',
    'README.md': 'dirty\n',
  })
  const request = fixture.request({ copy_files: ['.env*', 'local', 'README.md', 'not-there'] })
  await fixture.workspaces.ensure(request, never)
  const read = (name: string): Promise<string> => readFile(join(fixture.path, name), 'utf8')
  expect(await Promise.all(['.env', '.env.test', 'local/deep/x', 'README.md'].map(read))).toEqual([
    'A=1\n',
    'B=2\n',
    'x\n',
    'r\n',
  ])
  await writeFile(join(fixture.path, '.env'), 'A=agent\n')
  await fixture.workspaces.ensure(request, never)
  expect(await read('.env')).toBe('A=agent\n')
})

test.each(['../secret', '/etc/hostname', 'link/secret', 'a/../../secret'])(
  'refuses to copy %s, which leads out of the repository',
  async (pattern) => {
    await using fixture = await createFixture()
    await fixture.repository.write({ secret: 's\n' }, fixture.repository.beside)
    await symlink(fixture.repository.beside, join(fixture.repository.path, 'link'))
    await expect(fixture.workspaces.ensure(fixture.request({ copy_files: [pattern] }), never)).rejects.toMatchObject({
      code: 'outside_worktree',
    })
  },
)

test('runs setup commands once in order, in the new worktree with the given environment', async () => {
  await using fixture = await createFixture()
  const request = fixture.request({ setup_commands: ['echo "$WHO" >> log', 'pwd >> log'], env: { WHO: 'me' } })
  await fixture.workspaces.ensure(request, never)
  await fixture.workspaces.ensure(request, never)
  expect(await readFile(join(fixture.path, 'log'), 'utf8')).toBe(`me\n${fixture.path}\n`)
})

test('names a failed setup command with its output, and runs it again next time', async () => {
  await using fixture = await createFixture()
  const request = fixture.request({ setup_commands: ['echo trouble >&2; test -e ok || exit 3'] })
  await expect(fixture.workspaces.ensure(request, never)).rejects.toMatchObject({
    code: 'setup_failed',
    message: expect.stringMatching(/exit 3.*exit code 3\.\ntrouble/s),
  })
  await fixture.repository.write({ ok: '' }, fixture.path)
  expect(await fixture.workspaces.ensure(request, never)).toMatchObject({ kind: 'ready', how: 'reused' })
})

test('ends a running setup command and its children on cancel', async () => {
  await using fixture = await createFixture()
  const controller = new AbortController()
  const request = fixture.request({ setup_commands: ['echo $$ > pid; mkfifo gate; cat gate'] })
  const ensured = fixture.workspaces.ensure(request, { signal: controller.signal })
  await abortOnceThere(join(fixture.path, 'gate'), controller)
  await expect(ensured).rejects.toMatchObject({ name: 'AbortError' })
  const pid = Number(await readFile(join(fixture.path, 'pid'), 'utf8'))
  expect(existsSync(`/proc/${pid}`)).toBe(false)
})

/** Aborts as soon as the file exists, by an event of the file system. */
async function abortOnceThere(file: string, controller: AbortController): Promise<void> {
  const root = dirname(dirname(dirname(file)))
  await mkdir(root, { recursive: true })
  const watcher = watch(root, { recursive: true, signal: controller.signal }, () => {
    if (existsSync(file)) controller.abort()
  })
  watcher.on('error', (error) => {
    controller.abort(error)
  })
}
