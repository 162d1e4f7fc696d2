import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { ended, hookRuns, hookRunWhere, plugin, script, setHooks } from '../../helpers/lifecycle.ts'
import { refused } from '../../helpers/refusal.ts'

const held = (job: Job, task_id: string) =>
  job.running.taskWhere(task_id, (one) => one.error_annotation?.type === 'hook_failed')

test('keeps the barrier after a failed blocking hook, starts no agent and says why', async () => {
  await using job = await startJob()
  await setHooks(job, { before_work: [script('echo out; echo "no database" >&2; exit 7', { blocking: true })] })
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent('touch agent-was-here'))
  const stuck = await held(job, task.id)
  expect(stuck.entry_barrier).toBe(true)
  expect(stuck.status).toBe('in_progress')
  expect(stuck.error_annotation).toMatchObject({
    hook: 'before_work[0]',
    exit_code: 7,
    stderr_summary: 'no database',
    recovery_actions: ['retry_hook', 'skip_hook_once'],
  })
  expect(stuck.error_annotation?.message).toContain('exit code 7')
  expect(existsSync(join(path, 'agent-was-here'))).toBe(false)
  const [run] = await hookRuns(job, task.id)
  expect(run).toMatchObject({
    status: 'failed',
    exit_code: 7,
    stdout: 'out\n',
    stderr: 'no database\n',
    blocking: true,
  })
  expect(stuck.error_annotation?.log_name).toBe(run?.log_name)
  const entry = (await job.transitions(task.id)).at(-1)
  expect(entry?.hooks).toMatchObject([{ phase: 'before_work', action: 'script', outcome: 'blocked' }])
})

test('runs the hook again on retry_hook with the same context, and then starts the agent', async () => {
  await using job = await startJob()
  const flag = join(job.running.dataDir, 'flag')
  const log = join(job.running.dataDir, 'told.txt')
  const command = `echo "$SVC_EVENT $SVC_TASK_PREVIOUS_STATUS $SVC_TASK_STATUS $PWD" >> '${log}'; test -f '${flag}'`
  await setHooks(job, { before_work: [script(command, { blocking: true })], on_work_start: [script(command)] })
  const task = await job.task()
  const { path } = await job.claim(task, await job.agent('touch agent-was-here'))
  await held(job, task.id)
  await writeFile(flag, '')
  await job.running.client.call('tasks.recover', { task_id: task.id, action: 'retry_hook' })
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect(existsSync(join(path, 'agent-was-here'))).toBe(true)
  await hookRunWhere(job, task.id, ended('on_work_start'))
  const before = `before_work backlog in_progress ${path}`
  // Hooks for the start of work wait until the barrier has fallen.
  const told = [before, before, before.replace('before_work', 'on_work_start')]
  expect((await readFile(log, 'utf8')).trim().split('\n')).toEqual(told)
})

test('tells a hook before work which agent is about to start', async () => {
  await using job = await startJob()
  await setHooks(job, { before_work: [script('echo "$SVC_AGENT_ID $SVC_EXECUTION_ID"', { blocking: true })] })
  const task = await job.task()
  const agent = await job.agent('echo work > work.txt')
  const { execution } = await job.claim(task, agent)
  const run = await hookRunWhere(job, task.id, ended('before_work'))
  expect(run.stdout).toBe(`${agent.id} ${execution.id}\n`)
})

test('skips a hook once on skip_hook_once, and records who, when and why', async () => {
  await using job = await startJob()
  await setHooks(job, { before_work: [script('exit 1', { blocking: true })] })
  const { client } = job.running
  const task = await job.task()
  const agent = await job.agent('exit 3')
  await job.claim(task, agent)
  await held(job, task.id)
  const noReason = await refused(client.call('tasks.recover', { task_id: task.id, action: 'skip_hook_once' }))
  expect(noReason.code).toBe('validation_failed')
  await client.call('tasks.recover', { task_id: task.id, action: 'skip_hook_once', reason: 'the database is down' })
  const failed = await job.running.taskWhere(task.id, (one) => one.error_annotation?.type === 'execution_failed')
  expect(failed.entry_barrier).toBe(false)
  const entry = (await job.transitions(task.id)).at(-1)
  const skipped = entry?.hooks.find(({ outcome }) => outcome === 'skipped')
  expect(skipped?.reason).toMatch(/^skipped once by user:.+ at 20\d\d-.+: the database is down$/)
  // Once only: the next entry runs it again.
  await client.call('tasks.transition', { task_id: task.id, status: 'todo', version: failed.version })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  expect((await held(job, task.id)).entry_barrier).toBe(true)
})

test('runs later hooks after a failed blocking one, and retries only those that failed', async () => {
  await using job = await startJob()
  const seen = join(job.running.dataDir, 'seen.txt')
  const flag = join(job.running.dataDir, 'flag')
  const say = (word: string) => `echo ${word} >> '${seen}'`
  await setHooks(job, {
    before_work: [
      script(`${say('a')}; test -f '${flag}'`, { blocking: true }),
      script(say('b'), { blocking: true }),
      script(`${say('c')}; test -f '${flag}'`, { blocking: true }),
    ],
  })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  const stuck = await held(job, task.id)
  expect(stuck.error_annotation?.hook).toBe('before_work[0]')
  expect(stuck.error_annotation?.message).toContain('1 more failed too')
  expect(await readFile(seen, 'utf8')).toBe('a\nb\nc\n')
  await writeFile(flag, '')
  await job.running.client.call('tasks.recover', { task_id: task.id, action: 'retry_hook' })
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect(await readFile(seen, 'utf8')).toBe('a\nb\nc\na\nc\n')
})

test('skips one of two failed hooks, while the other still blocks', async () => {
  await using job = await startJob()
  await setHooks(job, { before_work: [script('exit 1', { blocking: true }), script('exit 2', { blocking: true })] })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  await held(job, task.id)
  const skip = { task_id: task.id, action: 'skip_hook_once', reason: 'known' } as const
  await job.running.client.call('tasks.recover', skip)
  const second = await job.running.taskWhere(task.id, (one) => one.error_annotation?.hook === 'before_work[1]')
  expect(second.entry_barrier).toBe(true)
  await job.running.client.call('tasks.recover', skip)
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
})

test('runs a non-blocking script beside the agent, and ignores its failure', async () => {
  await using job = await startJob()
  const gate = join(job.running.dataDir, 'gate')
  await setHooks(job, { before_work: [script(`until test -e '${gate}'; do sleep 0.05; done; exit 9`)] })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  const done = await job.running.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
  expect((await hookRunWhere(job, task.id, (run) => run.event === 'before_work')).status).toBe('running')
  await writeFile(gate, '')
  const run = await hookRunWhere(job, task.id, ended('before_work'))
  expect(run).toMatchObject({ status: 'failed', exit_code: 9, reason: 'exit code 9' })
  const after = await job.running.client.call('tasks.get', { task_id: task.id })
  expect([after.status, after.error_annotation, after.version]).toEqual(['review', null, done.version])
})

test('runs a plugin before the agent starts, and skips one that does not support the event', async () => {
  await using job = await startJob()
  await setHooks(job, {
    before_work: [plugin('run_merge'), plugin('knowledge-inject'), plugin('knowledge-inject', { enabled: false })],
  })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  const runs = await hookRuns(job, task.id)
  expect(runs.map(({ plugin: name, status, reason }) => [name, status, reason])).toEqual([
    ['run_merge', 'skipped', 'unsupported_event'],
    ['knowledge-inject', 'skipped', expect.any(String)],
  ])
  const failures = (await job.transitions(task.id))
    .flatMap(({ hooks }) => hooks)
    .filter((hook) => hook.outcome === 'failed')
  expect(failures).toEqual([])
})

test('runs hooks only for their agents or roles, and logs the others', async () => {
  await using job = await startJob()
  await setHooks(job, {
    before_work: [
      script('true', { applies_to: 'agent_only' }),
      script('true', { applies_to: 'user_only' }),
      script('true', { applies_to: 'all' }),
    ],
  })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  await job.running.eventually(
    () => hookRuns(job, task.id),
    (runs) => runs.filter(({ status }) => status !== 'running').length === 3,
  )
  const runs = (await hookRuns(job, task.id)).toSorted((a, b) => a.index - b.index)
  expect(runs.map(({ status, reason }) => [status, reason])).toEqual([
    ['succeeded', null],
    ['skipped', 'audience'],
    ['succeeded', null],
  ])
})

test('keeps the hook settings that a task began with', async () => {
  await using job = await startJob()
  const seen = join(job.running.dataDir, 'seen.txt')
  const gate = join(job.running.dataDir, 'gate')
  await setHooks(job, {
    before_work: [
      script(`until test -e '${gate}'; do sleep 0.05; done; echo first >> '${seen}'`, { blocking: true }),
      script(`echo second >> '${seen}'`, { blocking: true }),
    ],
  })
  const task = await job.task()
  await job.claim(task, await job.agent('echo work > work.txt'))
  await hookRunWhere(job, task.id, (run) => run.status === 'running')
  await setHooks(job, { before_work: [script(`echo other >> '${seen}'`, { blocking: true })] })
  await writeFile(gate, '')
  await job.running.taskWhere(task.id, (one) => one.status === 'review')
  expect(await readFile(seen, 'utf8')).toBe('first\nsecond\n')
})
