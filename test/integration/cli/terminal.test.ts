import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { startOnTerminal, startWorld, type SvcWorld } from './svc-process.ts'

let world: SvcWorld
let repository: TestRepository
let task: Task
beforeAll(async () => {
  repository = await createTestRepository({ files: { 'a.txt': 'old\n' } })
  world = await startWorld()
  const { client } = world
  const project = await client.call('projects.create', { name: 'Shop', repo_path: repository.path })
  task = await client.call('tasks.create', { project_id: project.id, title: 'Red \u001b[31mherring' })
  const { workspace } = await client.call('tasks.claim', { task_id: task.id })
  await writeFile(join(workspace?.path ?? '', 'a.txt'), 'new\n')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await repository[Symbol.asyncDispose]()
})

async function onTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const terminal = startOnTerminal(args, { env: { ...world.env, ...env }, cwd: repository.path })
  return { code: await terminal.exit, shown: terminal.shown().replaceAll('\r\n', '\n') }
}

test('shows the diff in colour and through the pager on a terminal', async () => {
  const file = join(world.home, 'paged')
  const { code } = await onTerminal(['task', 'diff', task.id], { PAGER: `tee '${file}' >/dev/null; echo $LESS` })
  expect(code).toBe(0)
  const paged = await readFile(file, 'utf8')
  expect(paged).toContain('\u001b[31m-old\u001b[39m\n\u001b[32m+new\u001b[39m')
  expect(stripVTControlCharacters(paged)).toMatch(/^diff --git a\/a.txt b\/a.txt\n/)
})

test('shows the diff without its pager, and obeys NO_COLOR', async () => {
  const { code, shown } = await onTerminal(['task', 'diff', task.id], { PAGER: '/nonexistent/pager', NO_COLOR: '1' })
  expect(code).toBe(0)
  expect(shown).toContain('\n-old\n+new\n')
})

test('uses neither colour nor pager elsewhere, and lets no other text colour a terminal', async () => {
  const { stdout } = await world.svc(['task', 'diff', task.id], { env: { PAGER: 'false' } })
  expect(stdout).toContain('\n-old\n+new\n')
  const { shown } = await onTerminal(['task', 'list'])
  expect(shown).toContain('\u001b[2mTASK')
  expect(shown).toContain('Red [31mherring')
})

test('shows what it waits for on a terminal, and clears that', async () => {
  const { code, shown } = await onTerminal(['task', 'cancel', task.id])
  expect(code).toBe(0)
  expect(shown).toMatch(/Cancelling ….*\r\u001b\[2K.* is in .*cancelled/s)
})

test('opens the address on the desktop with `svc open`', async () => {
  const bin = join(world.home, 'bin')
  await mkdir(bin)
  const opened = join(world.home, 'opened')
  await writeFile(
    join(bin, 'xdg-open'),
    `#!/bin/sh\necho "$1" > '${opened}.draft' && mv '${opened}.draft' '${opened}'\n`,
    {
      mode: 0o755,
    },
  )
  const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, DISPLAY: ':99' }
  const { url, opened: isOpened } = await world.json<{ url: string; opened: boolean }>(['open', task.id], { env })
  expect(isOpened).toBe(true)
  await expect.poll(() => readFile(opened, 'utf8').catch(() => ''), { timeout: 100_000 }).toBe(`${url}\n`)
})
