import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Prompt } from '../../../src-shared/contract/prompts.ts'
import type { TaskTemplate } from '../../../src-shared/contract/task-templates.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { startWorld, type SvcWorld } from './svc-process.ts'

let world: SvcWorld
let repository: TestRepository
let agent: Agent
const here = () => ({ cwd: repository.path })
const json = <T>(...args: readonly string[]) => world.json<T>(args, here())
const svc = (...args: readonly string[]) => world.svc(args, here())
const tasks = async () => (await json<{ items: Task[] }>('task', 'list')).items.map(({ title }) => title)

beforeAll(async () => {
  repository = await createTestRepository()
  world = await startWorld()
  await json('project', 'add', '--name', 'Shop')
  agent = await json<Agent>('agent', 'add', 'Claude', '--executor', 'command', '--command', 'true')
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await repository[Symbol.asyncDispose]()
})

test('saves, lists, shows, edits and deletes a template by name', async () => {
  const list = async () => (await svc('template', 'list')).stdout
  expect(await list()).toBe('No templates yet. Save one with `svc template create`.\n')
  const bug = await json<TaskTemplate>(
    ...['template', 'create', 'Bug', '--title', 'Fix: ', '--label', 'bug', '--priority', '3', '--ci', 'npm test'],
    ...['--assign', 'reviewer=claude', '--assign', 'coder=owner', '--description', 'What happens?'],
  )
  expect(bug).toMatchObject({
    name: 'Bug',
    title: 'Fix: ',
    description: 'What happens?',
    priority: 3,
    labels: ['bug'],
    review_config: { ci_steps: ['npm test'] },
    roles: { reviewer: { type: 'agent', id: agent.id }, coder: { type: 'user' } },
  })
  expect(await list()).toMatch(/^ID +NAME +TITLE.*\n\S{8} +Bug +Fix: +3 +bug\n$/)
  const edited = await json<TaskTemplate>('template', 'edit', 'bug', '--name', 'Defect', '--review-prompt', 'Is it?')
  expect(edited).toMatchObject({ name: 'Defect', review_config: { ci_steps: ['npm test'], review_prompt: 'Is it?' } })
  const shown = await svc('template', 'show', 'defect')
  expect(shown.stdout).toContain('Is it?')
  expect(shown.stdout).toMatch(/\n\nWhat happens\?\n$/)
  expect(await svc('template', 'delete', 'Defect')).toMatchObject({ code: 0, stdout: 'Deleted template Defect.\n' })
  expect(await svc('template', 'show', 'Defect')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('No template "Defect". None exist yet.') as string,
  })
})

test('fills from a template what a task leaves out', async () => {
  await json(
    ...['template', 'create', 'Chore', '--title', 'Update all', '--description', 'One by one.', '--label', 'chore'],
    ...['--priority', '1', '--ci', 'npm test', '--assign', 'reviewer=Claude'],
  )
  const whole = await json<Task>('task', 'create', '--template', 'chore')
  expect(whole).toMatchObject({
    title: 'Update all',
    description: 'One by one.',
    labels: ['chore'],
    priority: 1,
    review_config: { ci_steps: ['npm test'] },
    roles: { reviewer: { type: 'agent', id: agent.id } },
  })
  const own = await json<Task>(
    ...['task', 'create', 'Update vue', '--template', 'Chore', '--priority', '4', '--label', 'web'],
    ...['--review-prompt', 'Does it start?', '--wait-for', whole.ref],
  )
  expect(own).toMatchObject({
    title: 'Update vue',
    description: 'One by one.',
    labels: ['web'],
    priority: 4,
    review_config: { ci_steps: ['npm test'], review_prompt: 'Does it start?' },
    dependencies: [whole.id],
  })
  const copy = await json<TaskTemplate>('template', 'create', 'Vue', '--from', own.ref, '--title', 'Update ')
  expect(copy).toMatchObject({ title: 'Update ', labels: ['web'], roles: own.roles })
  expect(await svc('task', 'create')).toMatchObject({ code: 2, stdout: '' })
})

test('shows a task’s prompt before it exists', async () => {
  const before = await tasks()
  const draft = ['task', 'create', 'Sort by date', '--description', 'Newest first.', '--assign', 'coder=Claude']
  const shown = await svc(...draft, '--preview-prompt')
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).toContain('# Sort by date\n\nNewest first.')
  const prompt = await json<Prompt>(...draft, '--preview-prompt')
  expect(prompt).toMatchObject({ role: 'coder', agent_id: agent.id })
  const reviewer = await json<Prompt>(...draft, '--preview-prompt', '--role', 'reviewer')
  expect(reviewer.role).toBe('reviewer')
  expect(await svc(...draft, '--preview-prompt', '--attach', 'x.png')).toMatchObject({ code: 2 })
  expect(await tasks()).toEqual(before)
  const task = await json<Task>(...draft)
  expect((await json<Prompt>('task', 'prompt', task.ref)).prompt).toBe(prompt.prompt)
})

test('says what a task was created without', async () => {
  const answer = await svc('task', 'create', 'Half', '--assign', 'pilot=Claude')
  expect(answer.code).toBe(1)
  expect(answer.stderr).toMatch(/SHO-\d+ was created, but it doesn't have everything.* no role pilot/)
  expect(await tasks()).toContain('Half')
})
