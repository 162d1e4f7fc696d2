import { readFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { StateHook } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { createProcessBeacon } from '../../helpers/process-beacon.ts'
import { refusalOf, refused } from '../../helpers/refusal.ts'
import { smallWorkflow } from '../../helpers/small-workflow.ts'

/** Fails until it is allowed, and counts its runs. */
const gatekeeper: StateHook = {
  script: 'echo asked >> "$SVC_REPO_PATH/.git/asked"; echo closed >&2; test -f "$SVC_REPO_PATH/.git/open" || exit 3',
}
const open = (job: Job) => writeFile(`${job.repository.path}/.git/open`, '')
const asked = async (job: Job) =>
  (await readFile(`${job.repository.path}/.git/asked`, 'utf8')).split('\n').filter((line) => line !== '').length

const read = (job: Job, task_id: string) => job.running.client.call('tasks.get', { task_id })
const held = (job: Job, task_id: string) =>
  job.running.taskWhere(task_id, (one) => one.error_annotation?.type === 'hook_failed')
const done = (job: Job, task_id: string) => job.running.taskWhere(task_id, (one) => one.status === 'done')
const recover = (job: Job, task_id: string, action: 'retry_hook' | 'skip_hook_once', reason?: string) =>
  job.running.client.call('tasks.recover', { task_id, action, ...(reason !== undefined && { reason }) })
const outcomes = async (job: Job, task_id: string, to: string) =>
  ((await job.transitions(task_id)).findLast((entry) => entry.to_state === to)?.hooks ?? [])
    .filter((hook) => hook.action === 'script')
    .map(({ phase, action, outcome, reason }) => [phase, action, outcome, reason ?? ''])
const skipped = /^skipped once by user:owner at \d{4}-\d\d-\d\dT[\d:.]+Z: The mirror is down$/

test.concurrent('before_exit: answers 412 with the hook’s output, and changes nothing', async () => {
  await using job = await startJob({ workflow: smallWorkflow({ todo: { before_exit: [gatekeeper] } }) })
  const { client } = job.running
  const agent = await job.agent('echo worked')
  const task = await job.task()
  const move = { task_id: task.id, status: 'done', version: task.version }
  const calls = [
    client.call('tasks.transition', move),
    client.call('tasks.claim', { task_id: task.id, agent_id: agent.id }),
  ]
  for (const refusal of await Promise.all(calls.map(refused))) {
    expect([refusal.code, refusal.status]).toEqual(['transition_blocked', 412])
    expect(refusal.details).toMatchObject({
      hook: 'script',
      reason: expect.stringMatching(/^exit code 3: closed/) as string,
      exit_code: 3,
      stderr_summary: expect.stringContaining('closed') as string,
    })
  }
  expect(await read(job, task.id)).toEqual(task)
  expect([await job.transitions(task.id), await job.executions(task.id)]).toEqual([[], []])
  expect(await refusalOf(client.call('tasks.workspace', { task_id: task.id }))).toBe('not_found')
  // A cancellation is not blocked.
  expect((await client.call('tasks.cancel', { task_id: task.id })).task.status).toBe('cancelled')
  expect(await asked(job)).toBe(2)
})

test.concurrent('before_exit: blocks the task where no caller waits, until retry_hook asks again', async () => {
  await using job = await startJob({ workflow: smallWorkflow({ working: { before_exit: [gatekeeper] } }) })
  const task = await job.task()
  await job.claim(task, await job.agent('echo worked'))
  expect(await held(job, task.id)).toMatchObject({
    status: 'working',
    entry_barrier: false,
    error_annotation: {
      hook: 'script',
      exit_code: 3,
      stderr_summary: expect.stringContaining('closed') as string,
      recovery_actions: ['retry_hook', 'skip_hook_once'],
    },
  })
  await recover(job, task.id, 'retry_hook')
  await held(job, task.id)
  await open(job)
  await recover(job, task.id, 'retry_hook')
  await done(job, task.id)
  expect(await asked(job)).toBe(3)
  expect(await job.history(task.id)).toEqual(['todo > working by agent', 'working > done by system'])
  expect(await outcomes(job, task.id, 'done')).toEqual([['before_exit', 'script', 'ok', '']])
})

test.concurrent('before_exit: skip_hook_once needs a reason, and records who skipped it and when', async () => {
  await using job = await startJob({ workflow: smallWorkflow({ working: { before_exit: [gatekeeper] } }) })
  const task = await job.task()
  await job.claim(task, await job.agent('echo worked'))
  await held(job, task.id)
  expect(await refusalOf(recover(job, task.id, 'skip_hook_once'))).toBe('validation_failed')
  await recover(job, task.id, 'skip_hook_once', 'The mirror is down')
  await done(job, task.id)
  expect(await asked(job)).toBe(1)
  expect(await outcomes(job, task.id, 'done')).toEqual([
    ['before_exit', 'script', 'skipped', expect.stringMatching(skipped) as string],
  ])
})

test.concurrent('before_enter: a failed hook keeps the barrier, also across a restart', async () => {
  await using job = await startJob({ workflow: smallWorkflow({ working: { before_enter: [gatekeeper] } }) })
  const task = await job.task()
  await job.claim(task, await job.agent('echo worked'))
  const stands = { status: 'working', entry_barrier: true, error_annotation: { hook: 'script', exit_code: 3 } }
  expect(await held(job, task.id)).toMatchObject(stands)
  expect(await outcomes(job, task.id, 'working')).toEqual([
    ['before_enter', 'script', 'blocked', expect.stringContaining('closed') as string],
  ])
  expect((await job.executions(task.id)).map((one) => one.status)).toEqual(['queued'])
  const other = { task_id: task.id, action: 'retry_execution' } as const
  expect(await refusalOf(job.running.client.call('tasks.recover', other))).toBe('recovery_not_available')
  job.running = await job.running.restart()
  expect(await read(job, task.id)).toMatchObject(stands)
  expect(await asked(job)).toBe(1)
  await open(job)
  await recover(job, task.id, 'retry_hook')
  await done(job, task.id)
  expect((await outcomes(job, task.id, 'working')).map(([, , outcome]) => outcome)).toEqual(['blocked', 'ok'])
  expect((await job.executions(task.id)).map((one) => one.status)).toEqual(['succeeded'])
})

test.concurrent('before_enter: skip_hook_once skips that hook, this once only', async () => {
  const second: StateHook = { script: 'echo second >> "$SVC_REPO_PATH/.git/second"' }
  await using job = await startJob({ workflow: smallWorkflow({ working: { before_enter: [gatekeeper, second] } }) })
  const { client } = job.running
  const task = await job.task()
  await job.claim(task, await job.agent('exit 1'))
  await held(job, task.id)
  await recover(job, task.id, 'skip_hook_once', 'The mirror is down')
  const { version } = await job.running.taskWhere(
    task.id,
    (one) => one.error_annotation?.type === 'execution_failed' && !one.entry_barrier,
  )
  expect(await outcomes(job, task.id, 'working')).toEqual([
    ['before_enter', 'script', 'blocked', expect.stringContaining('closed') as string],
    ['before_enter', 'script', 'skipped', expect.stringMatching(skipped) as string],
    ['before_enter', 'script', 'ok', ''],
  ])
  expect(await readFile(`${job.repository.path}/.git/second`, 'utf8')).toBe('second\n')
  await client.call('tasks.transition', { task_id: task.id, status: 'blocked', version })
  await client.call('tasks.transition', { task_id: task.id, status: 'working', version: version + 1 })
  await held(job, task.id)
  expect(await asked(job)).toBe(2)
})

test.concurrent('on_enter: a failed hook is reported, but can’t block the task', async () => {
  await using job = await startJob({ workflow: smallWorkflow({ working: { on_enter: [gatekeeper] } }) })
  const task = await job.task()
  await job.claim(task, await job.agent('echo worked'))
  expect(await done(job, task.id)).toMatchObject({ error_annotation: null })
  const entered = () => outcomes(job, task.id, 'working')
  const [told] = await job.running.eventually(entered, (all) => all.length > 0)
  expect(told).toEqual(['on_enter', 'script', 'failed', expect.stringContaining('closed') as string])
})

test.concurrent('emits a failure of on_exit, on_enter or after_enter, and cascades if it names a state', async () => {
  const fails: StateHook = { script: 'exit 7' }
  await using job = await startJob({
    workflow: smallWorkflow({
      todo: { on_exit: [{ ...fails, on_failure: 'log' }] },
      blocked: { on_enter: [fails], after_enter: [{ ...fails, on_failure: { cascade: 'working' } }] },
      working: { after_enter: [{ script: 'true', on_success: { cascade: 'done' } }] },
    }),
  })
  const { client } = job.running
  const task = await job.task()
  await client.call('tasks.transition', { task_id: task.id, status: 'blocked', version: task.version })
  await done(job, task.id)
  const phases: string[] = []
  for await (const item of client.events({}, 0, AbortSignal.timeout(30_000))) {
    if (item.kind !== 'event') continue
    const { event } = item
    if (event.type === 'transition.effect_failed') phases.push(`${event.data.phase} ${event.data.action}`)
    if (event.type === 'task.transitioned' && event.data.to_state === 'done') break
  }
  expect(phases).toEqual(['on_exit script', 'on_enter script', 'after_enter script'])
  const who = (await job.transitions(task.id)).map((one) => `${one.from_state} > ${one.to_state} ${one.triggered_by}`)
  expect(who).toEqual(['todo > blocked user:owner', 'blocked > working user:owner', 'working > done user:owner'])
})

test.concurrent('ends a hanging hook script and its processes at its time limit', async () => {
  await using beacon = await createProcessBeacon()
  const hang = (name: string): StateHook => ({ script: beacon.hold(name, 'sleep 1000 & wait'), timeout_seconds: 1 })
  await using job = await startJob({
    workflow: smallWorkflow({
      todo: { before_exit: [{ ...hang('leaving'), applies_to: 'user_only' }] },
      working: { before_enter: [hang('entering')] },
    }),
  })
  const task = await job.task()
  const move = { task_id: task.id, status: 'done', version: task.version }
  const refusal = await refused(job.running.client.call('tasks.transition', move))
  expect([refusal.code, refusal.details]).toMatchObject(['transition_blocked', { exit_code: 124 }])
  expect(refusal.message).toContain('timed out after 1 s')
  await beacon.gone('leaving')
  expect(await read(job, task.id)).toEqual(task)
  await job.claim(task, await job.agent('echo worked'))
  expect((await held(job, task.id)).error_annotation).toMatchObject({
    message: expect.stringContaining('timed out after 1 s') as string,
    exit_code: 124,
  })
  await beacon.gone('entering')
})
