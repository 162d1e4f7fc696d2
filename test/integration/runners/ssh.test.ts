import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunnerId } from '../../../src-shared/contract/ids.ts'
import { ensureBuilt } from '../../helpers/built.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { processesIn } from '../../helpers/processes-in.ts'
import { startTestSshd, type TestSshd } from '../../helpers/test-sshd.ts'
import { sshd } from '../../fakes/git-ssh-server.ts'

interface SshJob extends AsyncDisposable {
  readonly job: Job
  readonly server: TestSshd
  /** The home of the machine there. */
  readonly home: string
  readonly runner_id: string
}

/** A service and a machine that it reaches by ssh alone. */
async function startSshJob(): Promise<SshJob> {
  await ensureBuilt()
  await using made = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'copse-far-'))
  made.defer(() => rm(home, { recursive: true, force: true }))
  const server = made.use(await startTestSshd(home))
  const job = made.use(await startJob())
  const { client } = job.running
  const config = { host: 'far', ssh_config: server.ssh_config }
  const { id: runner_id } = await client.call('runners.create', { name: 'Far', kind: 'ssh', config })
  await job.running.eventually(
    () => client.call('runners.get', { runner_id }),
    ({ state }) => state === 'ready',
  )
  await job.settings({ runner_ids: [runner_id as RunnerId] })
  const owned = made.move()
  return { job, server, home, runner_id, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

test.runIf(sshd !== null)('runs an agent over ssh, through a cut link, and leaves nothing there', async () => {
  await using far = await startSshJob()
  const { job, home, server, runner_id } = far
  const { client } = job.running
  const agent = await job.agent(
    'echo begun > begun.txt; while [ ! -e go.txt ]; do sleep 0.2; done; rm go.txt; pwd > where.txt; until curl -s -o /dev/null "$SVC_API_URL/api/v1/system"; do sleep 0.2; done; curl -s -o /dev/null -w "%{http_code} " -H "Authorization: Bearer $SVC_API_TOKEN" "$SVC_API_URL/api/v1/tasks/$SVC_TASK_ID" > own.txt; curl -s -o /dev/null -w "%{http_code}" "$SVC_API_URL/api/v1/system" >> own.txt; git add -A; git commit -qm Work',
  )
  const task = await job.task({ review_config: { ci_steps: ['cat own.txt'] } })
  await job.claim(task, agent)
  // Its file has come, uncommitted, while it works.
  const seen = () => client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  await job.running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'begun.txt'))
  const before = server.connections()
  server.cut()
  const folder = join(home, '.copse-runner', runner_id, 'tasks', task.id, 'worktree')
  await writeFile(join(folder, 'go.txt'), '')
  const reviewed = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  expect(server.connections()).toBeGreaterThan(before)
  expect(reviewed.status).toBe('review')
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  // The run's own token opens its task there; without one, the link opens nothing.
  expect(reviews[0]?.step_results[0]?.output_tail).toContain('200 401')
  const { files } = await seen()
  expect(files.map(({ path }) => path).sort()).toEqual(['begun.txt', 'own.txt', 'where.txt'])

  await job.settings({ runner_ids: ['here' as RunnerId] })
  expect(processesIn([home])).not.toEqual([])
  await client.call('runners.delete', { runner_id })
  await expect.poll(() => processesIn([home])).toEqual([])
})

test.runIf(sshd !== null)('ends a run there when the service stops, and keeps its work', async () => {
  await using far = await startSshJob()
  const { job, home, runner_id } = far
  const agent = await job.agent(
    'if [ -e sent.txt ]; then cat sent.txt > again.txt; git add -A; git commit -qm Work; else echo sent > sent.txt; sleep 300; fi',
  )
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  const seen = () => job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  await job.running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'sent.txt'))
  const folder = join(home, '.copse-runner', runner_id, 'tasks', task.id, 'worktree')
  expect(processesIn([folder])).not.toEqual([])
  // Written too late to be sent.
  await writeFile(join(folder, 'unsent.txt'), 'unsent\n')

  job.running = await job.running.restart()
  const { client } = job.running
  const lost = await client.call('executions.get', { execution_id: execution.id })
  expect(lost).toMatchObject({ status: 'lost', link: null })
  await expect.poll(() => processesIn([folder])).toEqual([])

  // The next run there first sends what that one left.
  await client.call('tasks.recover', { task_id: task.id, action: 'retry_execution' })
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  const { files } = await seen()
  expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(['again.txt', 'sent.txt']))
  const { items: rescues } = await client.call('rescues.of_task', { task_id: task.id })
  const kept = await Promise.all(rescues.map(({ commit }) => job.repository.git(['ls-tree', '--name-only', commit])))
  expect(files.some(({ path }) => path === 'unsent.txt') || kept.some((names) => names.includes('unsent.txt'))).toBe(
    true,
  )
})
