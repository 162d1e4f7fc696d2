import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import { startJob } from '../../helpers/job.ts'
import { ended, hookRuns, hookRunWhere, script, setHooks } from '../../helpers/lifecycle.ts'

const Line = HookRun.omit({ log_name: true })

test('stores each run of a hook in a log of one line, readable by task and by execution', async () => {
  await using job = await startJob()
  const { client } = job.running
  await setHooks(job, { on_work_start: [script('true'), script('echo said; echo wrong >&2; exit 4')] })
  const task = await job.task()
  const { execution } = await job.claim(task, await job.agent('echo work > work.txt'))
  const run = await hookRunWhere(job, task.id, (one) => one.index === 1 && one.status !== 'running')
  expect(run.log_name).toMatch(/^hook-on_work_start-1-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.jsonl$/)
  const slice = { name: run.log_name, offset: 0, limit: 100_000 }
  const ofTask = await client.call('tasks.read_log', { task_id: task.id, ...slice })
  const ofExecution = await client.call('executions.read_log', { execution_id: execution.id, ...slice })
  expect(ofExecution.data_base64).toBe(ofTask.data_base64)
  const text = Buffer.from(ofTask.data_base64, 'base64').toString('utf8')
  expect(text.endsWith('\n')).toBe(true)
  const lines = text.trimEnd().split('\n')
  expect(lines).toHaveLength(1)
  const line = Line.parse(JSON.parse(lines[0] ?? ''))
  expect(line).toMatchObject({
    event: 'on_work_start',
    index: 1,
    type: 'script',
    command: 'echo said; echo wrong >&2; exit 4',
    status: 'failed',
    exit_code: 4,
    stdout: 'said\n',
    stderr: 'wrong\n',
  })
  expect(line.duration_ms).toBeGreaterThan(0)
  const { items } = await client.call('executions.logs', { execution_id: execution.id })
  expect(items.filter(({ kind }) => kind === 'hook').map(({ name }) => name)).toContain(run.log_name)
})

test('passes a script every variable, in the worktree of its task', async () => {
  await using job = await startJob()
  await setHooks(job, { on_work_start: [script('pwd; env | grep ^SVC_ | grep -v ^SVC_PROCESS_TREE= | sort')] })
  const task = await job.task({ title: 'Tell "all" of it' })
  const agent = await job.agent('echo work > work.txt')
  const { execution, path } = await job.claim(task, agent)
  const run = await hookRunWhere(job, task.id, ended('on_work_start'))
  const [cwd, ...variables] = run.stdout.trim().split('\n')
  expect(cwd).toBe(path)
  const told = Object.fromEntries(variables.map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]))
  expect(told).toEqual({
    SVC_EVENT: 'on_work_start',
    SVC_TASK_ID: task.id,
    SVC_TASK_TITLE: 'Tell "all" of it',
    SVC_TASK_STATUS: 'in_progress',
    SVC_TASK_PREVIOUS_STATUS: 'backlog',
    SVC_PROJECT_ID: job.project.id,
    SVC_PROJECT_NAME: 'Job',
    SVC_REPO_PATH: job.repository.path,
    SVC_WORKTREE_PATH: path,
    SVC_PORT_BASE: expect.stringMatching(/^\d+$/) as string,
    SVC_AGENT_ID: agent.id,
    SVC_EXECUTION_ID: execution.id,
  })
  expect(run.environment).toEqual(told)
})

test('ends a run at its timeout with all its processes, and logs that', async () => {
  await using job = await startJob()
  await setHooks(job, { on_work_start: [script('echo begun; sleep 600 & sleep 600', { timeout_seconds: 1 })] })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  const run = await hookRunWhere(job, task.id, ended('on_work_start'))
  expect(run).toMatchObject({ status: 'timed_out', exit_code: 124, reason: 'timed out after 1 s', stdout: 'begun\n' })
})

test('accepts the exit codes that the hook names, and then not 0', async () => {
  await using job = await startJob()
  const success_exit_codes = [3, 143]
  await setHooks(job, {
    on_work_start: [script('exit 3', { success_exit_codes }), script('exit 0', { success_exit_codes })],
  })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  await hookRunWhere(job, task.id, (one) => one.index === 1 && one.status !== 'running')
  const runs = await hookRuns(job, task.id)
  expect(runs.map(({ index, status }) => [index, status]).toSorted()).toEqual([
    [0, 'succeeded'],
    [1, 'failed'],
  ])
})

test('keeps the last 10 KB of each output, with the count before, and redacts secrets', async () => {
  await using job = await startJob()
  await job.settings({ redaction_patterns: ['hush-[a-z]+'] })
  const flood = `i=0; while [ $i -lt 4000 ]; do echo "line $i é hush-abc"; i=$((i+1)); done`
  await setHooks(job, { on_work_start: [script(`${flood}; echo hush-again >&2; : hush-command`)] })
  const task = await job.task({ title: 'A hush-title' })
  await job.claim(task, await job.agent('echo work > work.txt'))
  const run = await hookRunWhere(job, task.id, ended('on_work_start'))
  expect(Buffer.byteLength(run.stdout)).toBeLessThanOrEqual(10_240)
  expect(run.stdout).toMatch(/^\[[\d,]+ bytes before this were left out\]\n/)
  expect(run.stdout.trimEnd().split('\n').at(-1)).toMatch(/^line 3999 é /)
  const stored = await readFile(join(job.running.dataDir, 'logs', task.id, run.log_name), 'utf8')
  expect(stored).toContain('line 3999')
  expect(stored).not.toContain('hush-')
})

test('shows a run with its output while it runs', async () => {
  await using job = await startJob()
  await setHooks(job, { on_work_start: [script('echo so far; sleep 600', { timeout_seconds: 600 })] })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  const signal = AbortSignal.timeout(30_000)
  for await (const item of job.running.client.events({}, 0, signal)) {
    if (item.kind !== 'hook' && item.kind !== 'event') continue
    const run = (await hookRuns(job, task.id)).find(({ event }) => event === 'on_work_start')
    if (run?.stdout !== 'so far\n') continue
    expect(run).toMatchObject({ status: 'running', duration_ms: null, exit_code: null })
    return
  }
  expect.unreachable('Its output was never seen.')
})

test('keeps the log of a workflow state’s script the same way', async () => {
  await using job = await startJob({
    workflow: (standard) => ({
      ...standard,
      states: standard.states.map((state) =>
        state.name === 'in_progress'
          ? {
              ...state,
              hooks: { ...state.hooks, before_enter: [{ script: 'true' }, { script: 'echo no >&2; exit 5' }] },
            }
          : state,
      ),
    }),
  })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  const stuck = await job.running.taskWhere(task.id, (one) => one.error_annotation !== null)
  const run = (await hookRuns(job, task.id)).find(({ status }) => status === 'failed')
  expect(run).toMatchObject({ event: 'before_enter', index: 1, exit_code: 5, stderr: 'no\n', blocking: true })
  expect(stuck.error_annotation).toMatchObject({ type: 'hook_failed', exit_code: 5, stderr_summary: 'no' })
})
