import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestRepository, type TestRepository } from '../../helpers/git-repository.ts'
import { startKillableApp, type KillableApp } from '../../helpers/killable-app.ts'
import { createProcessBeacon, wait } from '../../helpers/process-beacon.ts'

async function temporaryDataDir(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'copse-crash-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}

async function claimedTask(app: KillableApp, repository: TestRepository, command: string, ci_steps: string[] = []) {
  const { client } = app
  const project = await client.call('projects.create', { name: 'Crash', repo_path: repository.path })
  const agent = await client.call('agents.create', { name: 'Agent', executor: 'command', config: { command } })
  const task = await client.call('tasks.create', {
    project_id: project.id,
    title: 'Survive',
    review_config: { ci_steps },
  })
  const claimed = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  return { project, agent, task, path: claimed.workspace?.path ?? '' }
}

test.concurrent('leaves no process, keeps the work and asks a person when killed during a run', async () => {
  await using beacon = await createProcessBeacon()
  await using repository = await createTestRepository()
  await using dataDir = await temporaryDataDir()
  await using first = await startKillableApp(dataDir.path)
  const { task, path } = await claimedTask(
    first,
    repository,
    beacon.hold('agent', 'echo half > half.txt; sleep 1000 & sleep 1000'),
  )
  await beacon.alive('agent')
  await first.eventually(
    async () => (await first.client.call('tasks.executions', { task_id: task.id })).items,
    ([execution]) => execution?.status === 'running',
  )
  await first.kill()

  await using second = await startKillableApp(dataDir.path)
  await beacon.gone('agent')
  const lost = await second.client.call('tasks.get', { task_id: task.id })
  expect(lost).toMatchObject({
    status: 'in_progress',
    active_execution_id: null,
    error_annotation: { type: 'execution_lost', recovery_actions: ['retry_execution'] },
  })
  const { items } = await second.client.call('tasks.executions', { task_id: task.id })
  expect(items).toMatchObject([{ status: 'lost' }])
  expect(await readFile(join(path, 'half.txt'), 'utf8')).toBe('half\n')
  expect((await second.client.call('tasks.workspace', { task_id: task.id })).lock).toBeNull()
  await second.client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
  await beacon.alive('agent', 2)
})

test.concurrent('ends the old CI run after a kill, and gets exactly one result from a new one', async () => {
  await using beacon = await createProcessBeacon()
  await using repository = await createTestRepository()
  await using dataDir = await temporaryDataDir()
  await using first = await startKillableApp(dataDir.path)
  const steps = ['echo ran >> "$(git rev-parse --git-path ran-first)"', beacon.hold('ci', `${wait}; echo checked`)]
  const { task } = await claimedTask(first, repository, 'echo done > work.txt; echo done', steps)
  await beacon.alive('ci')
  await first.kill()

  await using second = await startKillableApp(dataDir.path)
  await beacon.gone('ci')
  await beacon.alive('ci', 2)
  const midway = await second.client.call('tasks.get', { task_id: task.id })
  expect(midway).toMatchObject({ status: 'review', entry_barrier: true, review_summary: { attempt_number: 1 } })
  await beacon.release('ci', 2)
  const passed = await second.eventually(
    () => second.client.call('tasks.get', { task_id: task.id }),
    (one) => one.review_passed_at !== null && !one.entry_barrier,
  )
  expect(passed.review_summary).toEqual({
    attempt_number: 1,
    status: 'passed',
    steps: ['passed', 'passed'],
    approved_by: [],
  })
  const { items: reviews } = await second.client.call('tasks.reviews', { task_id: task.id })
  expect(reviews.map((review) => review.step_results.map((step) => step.exit_code))).toEqual([[0, 0]])
  const { items: audit } = await second.client.call('tasks.transitions', { task_id: task.id })
  expect(audit.map((entry) => entry.to_state)).toEqual(['in_progress', 'review'])
})

test.concurrent('starts the agent after a kill between the claim’s commit and its effects', async () => {
  await using beacon = await createProcessBeacon()
  await using repository = await createTestRepository()
  await using dataDir = await temporaryDataDir()
  await using first = await startKillableApp(dataDir.path)
  const { client } = first
  const project = await client.call('projects.create', { name: 'Crash', repo_path: repository.path })
  // The worktree's set-up comes first after the commit, and holds the claim there.
  const stop = join(dataDir.path, 'stop-here')
  await writeFile(stop, '')
  const setup = beacon.hold('setup', `if test -f '${stop}'; then ${wait}; fi`)
  await client.call('projects.update_settings', { project_id: project.id, setup_commands: [setup] })
  const command = 'echo "${SVC_API_URL:-none}" > address.txt; echo done'
  const agent = await client.call('agents.create', { name: 'Agent', executor: 'command', config: { command } })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Survive' })
  const claiming = client.call('tasks.claim', { task_id: task.id, agent_id: agent.id }).catch(() => null)
  await beacon.alive('setup')
  await first.kill()
  expect(await claiming).toBeNull()
  await rm(stop)

  await using second = await startKillableApp(dataDir.path)
  await beacon.gone('setup')
  const passed = await second.eventually(
    () => second.client.call('tasks.get', { task_id: task.id }),
    (one) => one.review_passed_at !== null && !one.entry_barrier,
  )
  expect(passed.status).toBe('review')
  const { items: audit } = await second.client.call('tasks.transitions', { task_id: task.id })
  expect(audit.map((entry) => entry.to_state)).toEqual(['in_progress', 'review'])
  const { items: executions } = await second.client.call('tasks.executions', { task_id: task.id })
  expect(executions.map((one) => one.status)).toEqual(['succeeded'])
  const { path } = await second.client.call('tasks.workspace', { task_id: task.id })
  expect(await readFile(join(path, 'address.txt'), 'utf8')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\n$/)
})

test.concurrent('finishes at the next start a checkout update that was killed during a merge', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'before\n' } })
  await using dataDir = await temporaryDataDir()
  {
    await using first = await startKillableApp(dataDir.path)
    await first.client.call('projects.create', { name: 'Crash', repo_path: repository.path })
    await first.kill()
  }
  // The state that a service leaves when it dies after the branch moved and before the files followed.
  const from = await repository.git(['rev-parse', 'main'])
  const to = await repository.commit('Merged', { 'a.txt': 'after\n' })
  await repository.git(['reset', '--quiet', '--hard', from])
  await repository.git(['update-ref', 'refs/heads/main', to])
  const note = join(repository.path, '.git', 'svc-pending-move-left.json')
  const lock = join(repository.path, '.git', 'index.lock')
  await writeFile(note, JSON.stringify({ branch: 'main', from, to, checkouts: [repository.path], token: 'left' }))
  await writeFile(lock, 'left')

  await using _ = await startKillableApp(dataDir.path)
  expect([existsSync(note), existsSync(lock)]).toEqual([false, false])
  expect(await readFile(join(repository.path, 'a.txt'), 'utf8')).toBe('after\n')
  expect(await repository.git(['status', '--porcelain'])).toBe('')
})
