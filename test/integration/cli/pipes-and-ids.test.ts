import { spawn } from 'node:child_process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Agent, Project } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { cliFile, endOf, startWorld, type SvcWorld } from './svc-process.ts'

let world: SvcWorld
let repository: TestRepository
let project: Project
beforeAll(async () => {
  repository = await createTestRepository()
  world = await startWorld()
  project = await world.client.call('projects.create', { name: 'Shop', repo_path: repository.path })
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await repository[Symbol.asyncDispose]()
})

test.runIf(process.platform === 'linux')('ends a quiet stream when its reader leaves', async () => {
  const firstLineOf = (args: string) => {
    const command = `'${process.execPath}' '${cliFile}' ${args} | head -1`
    return endOf(spawn('sh', ['-c', command], { env: { ...process.env, ...world.env }, stdio: 'pipe' }))
  }
  const command = ['--executor', 'command', '--command', 'echo one; exec sleep 600']
  await world.json<Agent>(['agent', 'add', 'Silent', ...command])
  const { id } = await world.client.call('tasks.create', { project_id: project.id, title: 'Say one word' })
  await world.svc(['task', 'claim', id, '--agent', 'Silent'])
  const [events, logs] = await Promise.all([
    firstLineOf('events --since 0 --type task.created'),
    firstLineOf(`task logs ${id} -f`),
  ])
  const oneLine = { code: 0, stderr: '', stdout: expect.stringMatching(/^.+\n$/) as string }
  expect(events).toMatchObject(oneLine)
  expect(logs).toMatchObject(oneLine)
  await world.svc(['task', 'cancel', id])
})

test('finds a task by the beginning or end of its ID, beyond one page', async () => {
  const { client } = world
  const made: Task[] = []
  for (let number = 0; number < 60; number++) {
    const title = `Number ${number} of id:0a1b2c3d`
    made.push(await client.call('tasks.create', { project_id: project.id, title }))
  }
  const task = made.at(-1)
  const digits = task?.id.replaceAll('-', '') ?? ''
  for (const ref of [digits.slice(-8), digits.slice(-12).toUpperCase(), digits.slice(0, 28)]) {
    expect((await world.json<{ id: string }>(['task', 'show', ref])).id).toBe(task?.id)
  }
  const { ref } = task ?? {}
  for (const called of [ref ?? '', (ref ?? '').toLowerCase()]) {
    expect((await world.json<{ id: string }>(['task', 'show', called])).id).toBe(task?.id)
  }
  expect(await world.svc(['task', 'show', 'ZZZZ-1'])).toMatchObject({ code: 1 })
  const ambiguous = await world.svc(['task', 'show', digits.slice(0, 3)])
  expect(ambiguous).toMatchObject({ code: 2, stderr: expect.stringContaining('Use more of the ID') as string })
  const missing = await world.svc(['task', 'show', 'fffffffff'])
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining('svc task list') as string })
  const { items } = await client.call('tasks.list', { project_id: project.id, q: `id:${digits.slice(-8)}` })
  expect(items.map(({ id }) => id)).toEqual([task?.id])
})

test.runIf(process.platform === 'linux')(
  'says in one line that its output can’t be written, or that its folder is gone',
  async () => {
    const run = (script: string) =>
      endOf(spawn('sh', ['-c', script], { env: { ...process.env, ...world.env }, stdio: 'pipe' }))
    const svc = `'${process.execPath}' '${cliFile}'`
    const full = { code: 1, stderr: 'svc: The output could not be written: no space is left there.\n' }
    expect(await run(`${svc} --help > /dev/full`)).toMatchObject(full)
    expect(await run(`${svc} project list > /dev/full`)).toMatchObject(full)
    const inGoneFolder = `mkdir '${repository.beside}/gone' && cd '${repository.beside}/gone' && rmdir '${repository.beside}/gone' &&`
    expect(await run(`${inGoneFolder} ${svc} task list`)).toMatchObject({
      code: 1,
      stderr: 'svc: The folder you are in no longer exists. Change to another, then try again.\n',
    })
    expect(await run(`${inGoneFolder} ${svc} project list`)).toMatchObject({ code: 0, stderr: '' })
  },
)
