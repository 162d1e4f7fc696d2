import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Agent } from '../../../src-shared/contract/projects.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { startWorld, type SvcWorld } from './svc-process.ts'

let world: SvcWorld
let repository: TestRepository
beforeAll(async () => {
  repository = await createTestRepository()
  world = await startWorld()
  await world.json(['project', 'add', '--name', 'Shop'], here())
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await repository[Symbol.asyncDispose]()
})
const here = () => ({ cwd: repository.path })

test('shows what a run, task, agent, project and day have used of their limits', async () => {
  const line = JSON.stringify({ svc: { usage: { input_tokens: 100, output_tokens: 20, cost_usd: 1.5, turns: 3 } } })
  await world.json<Agent>(['agent', 'add', 'Shell', '--executor', 'command', '--command', `echo '${line}'; echo hi`])
  const limits = { per_run: null, per_task: { usd: 4 }, per_day: { usd: 6 }, warn_at: 0.8 }
  const { items } = await world.json<{ items: { id: string }[] }>(['call', 'projects.list'])
  await world.json([
    'call',
    'projects.update_settings',
    `project_id=${items[0]?.id}`,
    `limits=${JSON.stringify(limits)}`,
  ])
  const task = await world.json<Task>(['task', 'create', 'Paid'], here())
  await world.svc(['task', 'claim', task.ref, '--agent', 'shell'], here())
  await world.svc(['task', 'logs', task.ref, '-f'], here())

  const project = await world.svc(['usage'], here())
  expect(project).toMatchObject({ code: 0, stderr: '' })
  expect(project.stdout).toMatch(/^Shell +\$1\.50 +\d/m)
  expect(project.stdout).toContain('$1.50 of $6.00 for the project for today')
  expect(project.stdout).toContain('All runs of Shop: $1.50, 120 tokens, 1 run.')
  expect(project.stdout).toMatch(/list prices of \d{4}-\d\d-\d\d/)

  const one = await world.svc(['usage', '--task', task.ref], here())
  expect(one.stdout).toMatch(/succeeded +120 +\$1\.50 +3/)
  expect(one.stdout).toContain('$1.50 of $4.00 for this task')
  expect(one.stdout).toContain(`All runs of ${task.ref}: $1.50, 120 tokens, 1 run.`)
})

test('adds an agent with limits and account, and says when a money limit can’t hold', async () => {
  const agent = await world.json<Agent>([
    ...['agent', 'add', 'Limited', '--executor', 'external', '--usd-per-day', '2.5', '--account', 'Team'],
  ])
  expect(agent.config).toEqual({ limits: { per_day: { usd: 2.5, minutes: null } }, account: 'Team' })
  const wrong = await world.svc(['agent', 'add', 'Wrong', '--executor', 'external', '--usd-per-day', 'much'])
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('Use a number above 0.') as string })
  const task = await world.json<Task>(['task', 'create', 'Unpriced'], here())
  const claimed = await world.svc(['task', 'claim', task.ref, '--agent', 'limited'], here())
  expect(claimed.stderr).toContain('no limit on money holds this run')
})
