import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Agent, Project } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { cliFile, startWorld, type SvcWorld } from './svc-process.ts'

let world: SvcWorld
let repository: TestRepository
let project: Project
beforeAll(async () => {
  repository = await createTestRepository()
  world = await startWorld()
  project = await world.json<Project>(['project', 'add', '--name', 'Shop'], here())
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await repository[Symbol.asyncDispose]()
})

const newTask = async (title: string) => (await world.json<Task>(['task', 'create', title], here())).ref
const here = () => ({ cwd: repository.path })

test('goes from a repository’s folder to a merge: project, agent, task, work, review', async () => {
  expect(project).toMatchObject({ name: 'Shop', repos: [{ path: repository.path }] })
  const agent = await world.json<Agent>([
    ...['agent', 'add', 'Shell', '--executor', 'command'],
    ...['--command', 'echo hello from the agent; echo new > new.txt', '--env', 'A=b=c'],
  ])
  expect(agent.config.env).toEqual({ A: 'b=c' })
  expect(await world.svc(['agent', 'list'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Shell') as string,
  })

  const brief = { ...here(), stdin: 'What is new.\n' }
  const task = await world.json<Task>(
    ['task', 'create', 'Write it down', '--ci', 'test -s new.txt', '--description', '-', '--label', 'docs'],
    brief,
  )
  expect(task).toMatchObject({ project_id: project.id, description: 'What is new.\n', labels: ['docs'] })
  const { ref } = task

  const claimed = await world.svc(['task', 'claim', ref, '--agent', 'shell'])
  expect(claimed).toMatchObject({ code: 0, stderr: '' })
  expect(claimed.stdout).toMatch(new RegExp(`^${ref} is in in_progress. Shell works on it in /.*\n.*svc task logs -f`))

  const followed = await world.svc(['task', 'logs', ref, '-f'])
  expect(followed).toMatchObject({ code: 0, stderr: 'Run ended: succeeded.\n' })
  expect(followed.stdout).toContain('hello from the agent\n')
  const again = await world.svc(['task', 'logs', ref, '--json'])
  const entries = again.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; text?: string })
  expect(
    entries
      .filter(({ type }) => type === 'stdout')
      .map(({ text }) => text)
      .join(''),
  ).toBe('hello from the agent\n')

  await passed(task.id)
  const told = await world.svc(['task', 'prompt', ref, '--role', 'coder'])
  expect(told).toMatchObject({ code: 0, stderr: '' })
  expect(told.stdout).toMatch(/^PART +CHARACTERS +TOKENS, ABOUT\ntask +\d+ +\d+\n[^]*\nall +\d+ +\d+\n\n# /)
  const diff = await world.svc(['task', 'diff', ref])
  expect(diff).toMatchObject({ code: 0, stderr: '' })
  await writeFile(join(repository.beside, 'patch'), diff.stdout)
  await repository.git(['apply', join(repository.beside, 'patch')])
  expect(await readFile(join(repository.path, 'new.txt'), 'utf8')).toBe('new\n')
  await repository.git(['clean', '-fdq'])

  expect((await world.svc(['task', 'list'], here())).stdout).toMatch(
    new RegExp(`^TASK.*\n${ref} +review +Shell +passed +Write it down\n$`),
  )
  expect((await world.svc(['task', 'show', ref])).stdout).toMatch(/can move to +.*merging/)
  expect(await world.svc(['task', 'move', ref, 'merging'])).toMatchObject({ code: 0, stdout: `${ref} is in done.\n` })
  expect(await repository.git(['show', 'main:new.txt'])).toBe('new')
})

test('comments on work, returns it with feedback, and passes it', async () => {
  const command = 'cat > prompt.txt; date +%N >> x'
  await world.json<Agent>(['agent', 'add', 'Quick', '--executor', 'command', '--command', command])
  const { id, ref } = await world.json<Task>(['task', 'create', 'Twice'], here())
  await world.svc(['task', 'claim', id, '--agent', 'Quick'])
  await passed(id)
  expect(await world.svc(['task', 'comment', id, '-'], { stdin: 'Look here' })).toMatchObject({ code: 0 })
  expect((await world.client.call('comments.list', { task_id: id })).items).toMatchObject([{ body: 'Look here' }])

  expect(await world.svc(['task', 'comments', id])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/draft .*Look here/) as string,
  })
  const [said] = (await world.client.call('comments.list', { task_id: id })).items
  const answer = ['task', 'comment', id, 'I did', '--answer', said?.id ?? '', '--resolve']
  expect(await world.svc(answer)).toMatchObject({ code: 0 })
  expect((await world.client.call('comments.list', { task_id: id })).items.map(({ state }) => state)).toEqual([
    'resolved',
    'resolved',
  ])
  expect(await world.svc(['task', 'commits', id])).toMatchObject({
    stdout: 'The branch has no commits of its own.\n',
  })

  const failed = await world.svc(['review', 'fail', id, 'The empty list is missing'])
  expect(failed).toMatchObject({ code: 0, stdout: `${ref} is in in_progress.\n`, stderr: '' })
  await world.svc(['task', 'logs', id, '-f'])
  await passed(id, 2)
  const diff = await world.svc(['task', 'diff', id, '--path', 'prompt.txt'])
  expect(diff.stdout).toContain('The empty list is missing')
  expect(await world.json(['review', 'pass', id])).toMatchObject({ task: { status: 'review' } })
})

test('adds an agent with a missing program, and says what to do', async () => {
  const { items } = await world.client.call('agents.detect', {})
  const hint = items.find(({ executor }) => executor === 'qwen')?.hint ?? null
  const add = (...args: string[]) => world.svc(['agent', 'add', 'Away', '--executor', 'qwen', ...args])
  const made = { code: 0, stdout: expect.stringMatching(/^[0-9a-f]{8} {2}Added agent Away\.\n$/) as string }
  expect(await add()).toMatchObject({ ...made, stderr: hint === null ? '' : `${hint}\n` })
  expect(await add('--command', '/usr/bin/true')).toMatchObject({ ...made, stderr: '' })
})

test('ends with 1 for the API’s refusals, and with 2 for usage errors', async () => {
  const task = await world.json<Task>(['task', 'create', 'Refused'], here())
  const refused = await world.svc(['task', 'move', task.id, 'nowhere', '--json'])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(JSON.parse(refused.stderr)).toMatchObject({
    error: { code: 'invalid_transition', details: { allowed: expect.any(Array) as unknown } },
  })
  expect(await world.svc(['review', 'pass', task.id])).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^svc: /) as string,
  })
  expect(await world.svc(['task', 'show', 'zzz'])).toMatchObject({ code: 1 })
  expect(await world.svc(['task', 'create', 'x', '--priority', '9'], here())).toMatchObject({ code: 2, stdout: '' })
  expect(await world.svc(['agent', 'add', 'x', '--executor', 'abacus'])).toMatchObject({ code: 2 })
  expect(await world.svc(['task', 'cancel', task.id])).toMatchObject({
    code: 0,
    stdout: `${task.ref} is in cancelled.\n`,
  })
})

test('shows what waits for a slot, and stops and resumes a run', async () => {
  await world.json(['call', 'projects.update_settings', `project_id=${project.id}`, 'max_concurrent_executions=1'])
  await world.json<Agent>(['agent', 'add', 'Slow', '--executor', 'command', '--command', 'exec sleep 600'])
  const [first, second] = [await newTask('First'), await newTask('Second')]
  await world.svc(['task', 'claim', first, '--agent', 'Slow'])
  const waits = await world.svc(['task', 'claim', second, '--agent', 'Slow'])
  expect(waits.stdout).toMatch(/^[A-Z]+-\d+ is in in_progress\. Slow waits \(slots full, number 1\) to work on it in /)
  expect((await world.svc(['task', 'show', second])).stdout).toMatch(/^note +waits: slots full, number 1$/m)
  expect((await world.svc(['task', 'stop', first])).stdout).toBe(
    `${first} is in in_progress. Stopped. The agent's work is kept.\n`,
  )
  expect((await world.svc(['task', 'stop', first])).code).toBe(1)
  expect(await world.json(['task', 'recover', first, 'resume'])).toMatchObject({ task: { error_annotation: null } })
  const stopAll = [first, second].map((id) => world.svc(['task', 'cancel', id]))
  expect((await Promise.all(stopAll)).map(({ code }) => code)).toEqual([0, 0])
  const limit = '{"max_concurrent_executions": 4, "project_id": "' + project.id + '"}'
  const back = await world.svc(['call', 'projects.update_settings', '-'], { stdin: limit })
  expect(back.stdout).toContain('"max_concurrent_executions": 4')
})

test('pauses a project for agents until it is resumed', async () => {
  expect(await world.svc(['project', 'pause'], here())).toMatchObject({ code: 0, stdout: 'Shop is paused.\n' })
  expect((await world.svc(['project', 'list'])).stdout).toContain('Shop (paused)')
  expect(await world.json<Project>(['project', 'resume', 'shop'])).toMatchObject({ paused_at: null })
})

test('prints events as lines of JSON from a given number, until Ctrl-C', async () => {
  await world.client.call('tasks.create', { project_id: project.id, title: 'An event' })
  const events = world.start(['events', '--json', '--since', '0', '--type', 'task.created'])
  const errors: string[] = []
  events.stderr.on('data', (data: Buffer) => errors.push(String(data)))
  const [line] = (await once(createInterface({ input: events.stdout }), 'line')) as [string]
  expect(JSON.parse(line)).toMatchObject({
    seq: expect.any(Number) as number,
    type: 'task.created',
    data: { project_id: project.id },
  })
  events.kill('SIGINT')
  await once(events, 'close')
  expect(errors).toEqual([])
})

test('ends quietly at the next event when the reader has left', async () => {
  const shell = `'${process.execPath}' '${cliFile}' events --since 0 | head -1`
  const piped = spawn('sh', ['-c', shell], { env: { ...process.env, ...world.env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const said = Promise.all([text(piped.stdout), text(piped.stderr)])
  let isOver = false
  const closed = once(piped, 'close').finally(() => (isOver = true))
  while (!isOver) await world.client.call('tasks.create', { project_id: project.id, title: 'One more event' })
  const [code] = (await closed) as [number]
  const [stdout, stderr] = await said
  expect({ code, stderr, lines: stdout.split('\n').length }).toEqual({ code: 0, stderr: '', lines: 2 })
})

test('prints with `svc open` the address of a task, and that there is no desktop', async () => {
  const task = await world.json<Task>(['task', 'create', 'Open'], here())
  const env = { DISPLAY: '', WAYLAND_DISPLAY: '' }
  const url = `${world.url}/#/p/${project.id}/t/${task.id}`
  expect(await world.svc(['open', task.id], { env })).toMatchObject({ code: 0, stdout: `${url}\n` })
})

/** Resolves once its checks have passed this many times. */
async function passed(task_id: string, times = 1): Promise<void> {
  const end = new AbortController()
  let before = 0
  for await (const item of world.client.events({}, 0, end.signal)) {
    if (item.kind !== 'event' || item.event.type !== 'review.updated') continue
    const { data } = item.event
    if (data.task_id === task_id && data.review.status === 'passed' && ++before === times) break
  }
  end.abort()
}

test('reads title and description of a task from standard input', async () => {
  const whole = await world.json<Task>(['task', 'create', '-'], { ...here(), stdin: 'From a pipe\n\nWith a brief.\n' })
  expect(whole).toMatchObject({ title: 'From a pipe', description: 'With a brief.' })
  expect(await world.svc(['task', 'create', '-'], { ...here(), stdin: '' })).toMatchObject({ code: 2 })
  await world.svc(['task', 'cancel', whole.id])
})
