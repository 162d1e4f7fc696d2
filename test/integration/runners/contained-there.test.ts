import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { readMachine } from '../../../src-main/containment/machine.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { sshd } from '../../fakes/git-ssh-server.ts'
import { startDaemonJob } from '../../helpers/daemon-job.ts'
import type { Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { programsWithout, startSshJob } from '../../helpers/ssh-job.ts'

const isTested = sshd !== null && process.platform === 'linux'
const isContained = isTested && (readMachine().available || process.env['CI'] !== undefined)

/** A machine where a run is contained, and the runner's folder there. */
interface Far {
  readonly job: Job
  readonly home: string
  readonly runner_id: string
  readonly there: string
}

/** Has an agent and a check try to reach what they must not, and looks at what became of it. */
async function expectContained({ job, home, runner_id, there }: Far): Promise<void> {
  const { client } = job.running
  await writeFile(join(home, 'secret.txt'), 'secret')
  const command = `echo one > one.txt; git add -A; git commit -qm One
until [ -e go.txt ]; do sleep 0.1; done; rm go.txt
cat "$HOME"/secret.txt > secret.txt 2> seen.txt
ls ${there} ${there}/jobs >> seen.txt 2>&1
echo out > ${home}/out.txt; echo out > ${there}/out.txt
git update-ref refs/heads/other HEAD; git config core.fsmonitor "touch ${home}/escaped; false"
curl -s -o /dev/null -w '%{http_code}' -H "Authorization: Bearer $SVC_API_TOKEN" "$SVC_API_URL/api/v1/tasks/$SVC_TASK_ID" > own.txt
curl -sS -m 5 http://denied.invalid/; git add -A; git commit -qm Two`
  const agent = await client.call('agents.create', {
    name: 'Contained',
    executor: 'command',
    config: { command, containment: 'worktree_and_hosts' },
  })
  const task = await job.task({ review_config: { ci_steps: [`cat own.txt; echo out > ${home}/check.txt || true`] } })
  await job.settings({ ci_containment: 'worktree' })
  const { execution, path } = await job.claim(task, agent)
  expect((await client.call('executions.get', { execution_id: execution.id })).runner_id ?? runner_id).toBe(runner_id)
  // What it commits arrives while it works.
  const branch = () => job.repository.git(['log', '-1', '--format=%s'], { cwd: path })
  await expect.poll(branch, { timeout: 60_000 }).toBe('One')
  await writeFile(join(there, 'tasks', task.id, 'worktree', 'go.txt'), '')
  await job.running.taskWhere(task.id, (one) => one.review_summary !== null && !one.entry_barrier)
  const { items: reviews } = await client.call('tasks.reviews', { task_id: task.id })
  const [check] = reviews[0]?.step_results ?? []
  expect(check?.output_tail).toMatch(/^200/)
  expect(check?.exit_code).toBe(0)
  expect(await branch()).toBe('Two')
  expect(await readFile(join(path, 'own.txt'), 'utf8')).toBe('200')
  expect(await readFile(join(path, 'secret.txt'), 'utf8')).toBe('')
  expect(await readFile(join(path, 'seen.txt'), 'utf8')).not.toContain('runner-')
  for (const file of ['out.txt', 'escaped', 'check.txt'].map((name) => join(home, name)))
    expect(existsSync(file), file).toBe(false)
  expect(existsSync(join(there, 'out.txt'))).toBe(false)
  expect(await client.call('executions.get', { execution_id: execution.id })).toMatchObject({
    status: 'succeeded',
    containment: 'worktree_and_hosts',
  })
  const entries: TranscriptEntry[] = []
  for await (const item of client.transcript({ execution_id: execution.id }, null, AbortSignal.timeout(20_000)))
    if (item.kind === 'entry') entries.push(item.entry)
  const denied = entries.filter((entry) => entry.type === 'denied').map(({ what, target }) => [what, target])
  expect(denied).toEqual(expect.arrayContaining([['host', 'denied.invalid']]))
}

test.runIf(isContained)('contains a run on the machine there, and shows what it was kept from', async () => {
  await using far = await startSshJob()
  const { job, home, runner_id } = far
  const { steps } = await job.running.client.call('runners.check', { runner_id })
  expect(steps).toContainEqual({ name: 'containment', ok: true, message: 'Runs there can be contained.', fix: null })
  await expectContained({ job, home, runner_id, there: join(home, '.copse-runner', runner_id) })
})

test.runIf(isContained)('contains a run on a machine that connects itself', async () => {
  await using far = await startDaemonJob()
  const { job, home, runner_id } = far
  far.start()
  await far.isReady()
  await job.settings({ runner_ids: [runner_id] })
  await expectContained({ job, home, runner_id, there: join(home, 'runner') })
})

test.runIf(isTested)('refuses containment that the machine there can’t give, and says what to install', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'copse-programs-'))
  const path = `${dirname(process.execPath)}:${await programsWithout(folder, ['bwrap'])}`
  await using far = await startSshJob({ path })
  const { job, runner_id } = far
  const { client } = job.running
  const message = 'Not found: bwrap. Install the packages bubblewrap and socat there.'
  const { steps } = await client.call('runners.check', { runner_id })
  expect(steps.find(({ name }) => name === 'containment')).toMatchObject({
    ok: true,
    message: `Runs there can’t be contained. ${message}`,
  })
  const config = { command: 'echo one > one.txt; git add -A; git commit -qm One' }
  const contained = await client.call('agents.create', {
    name: 'Contained',
    executor: 'command',
    config: { ...config, containment: 'worktree' },
  })
  const task = await job.task()
  const refusal = await refused(client.call('tasks.claim', { task_id: task.id, agent_id: contained.id }))
  expect(refusal).toMatchObject({ code: 'containment_unavailable' })
  expect(refusal.message).toContain(`Runs on Far can’t be contained. ${message}`)
  const auto = await client.call('agents.create', {
    name: 'Auto',
    executor: 'command',
    config: { ...config, containment: 'auto' },
  })
  const { execution } = await job.claim(task, auto)
  await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  expect(await client.call('executions.get', { execution_id: execution.id })).toMatchObject({ status: 'succeeded' })
  await rm(folder, { recursive: true })
})
