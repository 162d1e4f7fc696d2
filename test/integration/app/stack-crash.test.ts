import { expect, test, vi } from 'vitest'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startKillableApp } from '../../helpers/killable-app.ts'
import type { CountCommits } from '../../helpers/die-at-commit.ts'

vi.setConfig({ testTimeout: 300_000 })

type Death = NonNullable<CountCommits['die']>

/** Cancels a task below, and kills the service while the one above is restacked. Returns whether it died. */
async function cancelBelow(die: Death): Promise<boolean> {
  await using repository = await createTestRepository()
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-stack-'))
  try {
    const first = await startKillableApp(dataDir, 'mortal')
    const { client } = first
    const project = await client.call('projects.create', { name: 'Job', repo_path: repository.path })
    const make = async (title: string, file: string, stacked_on?: string) => {
      const config = { command: `echo ${title} > ${file}` }
      const agent = await client.call('agents.create', { name: title, executor: 'command', config })
      const task = await client.call('tasks.create', {
        project_id: project.id,
        title,
        ...(stacked_on && { stacked_on }),
      })
      await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
      await first.eventually(
        () => client.call('tasks.get', { task_id: task.id }),
        (one) => one.review_passed_at !== null && !one.entry_barrier && one.active_execution_id === null,
      )
      return task
    }
    const lower = await make('lower', 'lower.txt')
    const upper = await make('upper', 'upper.txt', lower.id)
    first.count(die)
    const moved = async (app: typeof client) => {
      const { items } = await app.call('tasks.transitions', { task_id: upper.id })
      return items.flatMap(({ hooks }) => hooks).filter(({ action }) => action === 'restack').length
    }
    const going = client
      .call('tasks.cancel', { task_id: lower.id })
      .then(() =>
        first.eventually(
          () => moved(client),
          (times) => times > 0,
        ),
      )
      .then(
        () => true,
        () => first.exited.then(() => false),
      )
    const arrived = await Promise.race([going, first.exited.then(() => false)])
    await first[Symbol.asyncDispose]()

    await using second = await startKillableApp(dataDir)
    const below = await second.client.call('tasks.get', { task_id: lower.id })
    if (below.status !== 'cancelled') await second.client.call('tasks.cancel', { task_id: lower.id })
    await second.eventually(
      () => moved(second.client),
      (times) => times > 0,
    )
    expect(await moved(second.client)).toBe(1)
    const { path } = await second.client.call('tasks.workspace', { task_id: upper.id })
    expect(await repository.git(['-C', path, 'status', '--porcelain'])).toBe('')
    const { version } = await second.client.call('tasks.get', { task_id: upper.id })
    await second.client.call('tasks.transition', { task_id: upper.id, status: 'merging', version })
    await second.eventually(
      () => second.client.call('tasks.get', { task_id: upper.id }),
      ({ status }) => status === 'done',
    )
    expect(await repository.git(['ls-tree', '--name-only', 'main'])).not.toContain('lower.txt')
    expect(await repository.git(['show', 'main:upper.txt'])).toBe('upper')
    return !arrived
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Every third commit dies in the usual run, to keep it short. */
const step = process.env['COPSE_ALL_CRASHES'] === '1' ? 1 : 3

test('finishes a restack after a kill at any commit', async () => {
  let deaths = 0
  for (let at = 1; await cancelBelow({ at, when: 'before' }); at += step) deaths += 1
  expect(deaths).toBeGreaterThan(1)
})
