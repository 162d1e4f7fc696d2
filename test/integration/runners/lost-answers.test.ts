import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { startFarJob } from '../../helpers/far-job.ts'
import type { Job } from '../../helpers/job.ts'
import { processesIn } from '../../helpers/processes-in.ts'
import { projectRoot } from '../../helpers/project-root.ts'

// Of each call the service did what it was asked, and the runner never hears of it.

async function transcript({ running }: Job, execution_id: string): Promise<readonly TranscriptEntry[]> {
  const name = `agent-${execution_id}.jsonl`
  const { data_base64 } = await running.client.call('executions.read_log', { execution_id, name })
  const lines = Buffer.from(data_base64, 'base64').toString('utf8').trim().split('\n')
  return lines.map((line) => parseJson(line) as TranscriptEntry)
}

const said = async (job: Job, execution_id: string) =>
  (await transcript(job, execution_id)).flatMap((entry) =>
    entry.type === 'stdout' ? entry.text.trim().split('\n') : [],
  )

const inReview = (job: Job, task_id: string) =>
  job.running.taskWhere(task_id, (one) => one.status === 'review' && !one.entry_barrier)

/** Returns which call of a job a path is. */
const callOf = (path: string): string | null => /\/jobs\/[^/]+\/([a-z]+)/.exec(path)?.[1] ?? null

test.concurrent('takes each call once whose answer was lost', async () => {
  await using far = await startFarJob()
  const { job, door } = far
  const lost = new Set<string>()
  door.loses = (path) => {
    const call = callOf(path)
    if (call === null || lost.has(call)) return false
    lost.add(call)
    return true
  }
  const agent = await job.agent('echo one; echo work > work.txt; git add -A; git commit -qm Work; echo two')
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  await inReview(job, task.id)
  expect([...lost]).toEqual(expect.arrayContaining(['accept', 'beat', 'logs', 'finish']))
  expect(await said(job, execution.id)).toEqual(['one', 'two'])
  expect(await job.executions(task.id)).toMatchObject([{ id: execution.id, status: 'succeeded', attempt: 1 }])
})

test.concurrent('describes a run again where the service ended before its answer was heard', async () => {
  await using far = await startFarJob()
  const { job, door } = far
  const isLost = Promise.withResolvers<void>()
  let isFirst = true
  door.loses = (path) => isFirst && callOf(path) === 'accept'
  door.onLost = () => {
    isFirst = false
    door.close()
    isLost.resolve()
  }
  const agent = await job.agent(
    'cat > prompt.txt; curl -s -o /dev/null -w "%{http_code}" -H "Authorization: Bearer $SVC_API_TOKEN" "$SVC_API_URL/api/v1/tasks/$SVC_TASK_ID" > own.txt; git add -A; git commit -qm Work',
  )
  const task = await job.task({ title: 'Greet in French' })
  const claimed = job.claim(task, agent)
  await isLost.promise
  const { execution } = await claimed
  await job.running.eventually(
    () => job.running.client.call('executions.get', { execution_id: execution.id }),
    ({ status }) => status === 'running',
  )
  // The token that no one heard is in no file.
  const database = await readFile(join(job.running.dataDir, 'copse.db'))
  expect(database.includes('"SVC_API_TOKEN":')).toBe(false)
  await far.restart()
  await inReview(job, task.id)
  expect(await job.executions(task.id)).toMatchObject([{ id: execution.id, status: 'succeeded', attempt: 1 }])
  const branch = await job.repository.git(['for-each-ref', '--format=%(refname)', 'refs/heads/svc'])
  const show = (file: string) => job.repository.git(['show', `${branch.trim()}:${file}`])
  expect(await show('own.txt')).toBe('200')
  expect(await show('prompt.txt')).toContain('Greet in French')
})

test.concurrent('tells the next service the end whose answer was lost', async () => {
  await using far = await startFarJob()
  const { job, door } = far
  const isLost = Promise.withResolvers<void>()
  let isFirst = true
  door.loses = (path) => isFirst && callOf(path) === 'finish'
  door.onLost = () => {
    isFirst = false
    door.close()
    isLost.resolve()
  }
  const agent = await job.agent('echo one; echo work >> work.txt; git add -A; git commit -qm Work')
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  await isLost.promise
  await inReview(job, task.id)
  await far.restart()
  // The runner forgets it once it has been heard, and takes the next.
  await job.running.client.call('tasks.verdict', { task_id: task.id, verdict: 'fail', feedback: 'Again' })
  await job.running.taskWhere(
    task.id,
    (one) => one.status === 'review' && !one.entry_barrier && one.review_summary?.attempt_number === 2,
  )
  const runs = await job.executions(task.id)
  expect(runs).toHaveLength(2)
  expect(runs.find(({ id }) => id === execution.id)).toMatchObject({ status: 'succeeded', attempt: 1 })
})

test.concurrent('keeps a run in the queue that no runner had when the service was stopped', async () => {
  await using far = await startFarJob()
  const { job, door } = far
  door.close()
  const agent = await job.agent('echo work > work.txt; git add -A; git commit -qm Work')
  const task = await job.task()
  await job.running.client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  // The job is on offer once its files are lent.
  const lent = () =>
    readdir(join(job.running.dataDir, 'arrivals', `${task.id}.git`, 'refs/svc/live/lent')).catch(() => [])
  await vi.waitFor(async () => expect(await lent()).toHaveLength(1), { timeout: 20_000 })
  await far.restart()
  await inReview(job, task.id)
  expect(await job.executions(task.id)).toMatchObject([{ status: 'succeeded', attempt: 1 }])
})

test.concurrent('asks people again after a restart of the service, and gives the answer once', async () => {
  await using far = await startFarJob()
  const { job } = far
  const command = `"${process.execPath}" "${join(projectRoot, 'test/fakes/asking-acp-agent.ts')}"`
  const agent = await job.running.client.call('agents.create', {
    name: 'Asker',
    executor: 'acp',
    config: { command, permissions: 'ask' },
  })
  const calls = [{ title: 'npm test', kind: 'execute', rawInput: { command: 'npm test' } }]
  const task = await job.task({ description: `Do it. <asks>${JSON.stringify(calls)}</asks>` })
  const { execution } = await job.claim(task, agent)
  const read = () => job.running.client.call('executions.get', { execution_id: execution.id })
  const { asks: before = [] } = await job.running.eventually(read, ({ asks = [] }) => asks.length === 1)
  await far.restart()
  const { asks = [] } = await job.running.eventually(read, ({ asks: now = [] }) => now.length === 1)
  expect(asks[0]?.text).toBe(before[0]?.text)
  expect(asks[0]?.id).not.toBe(before[0]?.id)
  const [ask] = asks
  const option_id = ask?.options.find(({ kind }) => kind === 'allow_once')?.id ?? ''
  await job.running.client.call('executions.answer', { execution_id: execution.id, ask_id: ask?.id ?? '', option_id })
  await job.running.eventually(read, ({ finished_at }) => finished_at !== null)
  const entries = await transcript(job, execution.id)
  expect(entries.filter(({ type }) => type === 'answer')).toHaveLength(1)
})

test('ends a run there, and keeps its late work as a rescue, once the service has lost it', async () => {
  await using far = await startFarJob()
  const { job, folder } = far
  const agent = await job.agent('echo begun > begun.txt; git add -A; git commit -qm Begun; sleep 300')
  const task = await job.task()
  const { execution } = await job.claim(task, agent)
  const seen = () => job.running.client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
  await job.running.eventually(seen, ({ files }) => files.some(({ path }) => path === 'begun.txt'))
  far.door.close()
  const there = join(folder, 'tasks', task.id, 'worktree')
  await writeFile(join(there, 'unsent.txt'), 'unsent\n')
  far.lose('Its machine is gone.')
  await job.running.eventually(
    () => job.running.client.call('executions.get', { execution_id: execution.id }),
    ({ status }) => status === 'lost',
  )
  expect(processesIn([there])).not.toEqual([])
  far.door.open()
  await expect.poll(() => processesIn([there]), { timeout: 20_000 }).toEqual([])
  const rescued = async () => {
    const { items } = await job.running.client.call('rescues.of_task', { task_id: task.id })
    const kept = await Promise.all(items.map(({ commit }) => job.repository.git(['ls-tree', '--name-only', commit])))
    return kept.some((names) => names.includes('unsent.txt'))
  }
  await expect.poll(rescued, { timeout: 20_000 }).toBe(true)
})
