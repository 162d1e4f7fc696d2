import { execFile } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { cliFile, startWorld, type SvcWorld } from './svc-process.ts'

let world: SvcWorld
let repository: TestRepository
let bin: string
beforeAll(async () => {
  repository = await createTestRepository()
  world = await startWorld()
  bin = join(world.home, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'svc'), `#!/bin/sh\nexec '${process.execPath}' '${cliFile}' "$@"\n`)
  await chmod(join(bin, 'svc'), 0o755)
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await repository[Symbol.asyncDispose]()
})

/** Returns bash's completions of a command line whose last word is being typed. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const script = `
    eval "$(svc completion bash)"
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    "$(complete -p svc | sed 's/.*-F \\([^ ]*\\).*/\\1/')"
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const env = { ...process.env, ...world.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` }
  const { stdout } = await promisify(execFile)('bash', ['-c', script, 'bash', 'svc', ...words], {
    cwd: repository.path,
    env,
  })
  return stdout.split('\n').filter(Boolean)
}

test('completes commands, options and their values in bash', async () => {
  expect(await offered('ta')).toEqual(['task'])
  const own = ['create', 'chapters', 'comment', 'comments', 'claim', 'cancel', 'commits', 'conflicts']
  expect((await offered('task', 'c')).toSorted()).toEqual(own.toSorted())
  expect(await offered('task', 'list', '--s')).toEqual(['--status', '--search'])
  expect(await offered('agent', 'add', 'x', '--executor', 'c')).toContain('claude-code')
  expect(await offered('completion', '')).toEqual(['bash', 'zsh', 'fish'])
  expect(await offered('')).not.toContain('__complete')
})

test('completes tasks of the folder’s project and agents in bash', async () => {
  const { client } = world
  const project = await client.call('projects.create', { name: 'Shop', repo_path: repository.path })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'A\ttab' })
  expect(await offered('task', 'show', '')).toEqual([task.ref])
  expect(await offered('review', 'fail', '--json', task.ref.slice(0, 3))).toEqual([task.ref])
  expect(await offered('task', 'show', task.ref, '')).toEqual([])
  expect(await offered('task', 'claim', task.ref, '--agent', '')).toEqual([])
})

test('uses the same command in other shells, and refuses an unknown shell', async () => {
  for (const shell of ['zsh', 'fish']) {
    expect((await world.svc(['completion', shell])).stdout).toContain('__complete --')
  }
  expect(await world.svc(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' })
})
