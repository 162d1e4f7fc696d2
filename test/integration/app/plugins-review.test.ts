import { expect, test } from 'vitest'
import { budget, startJob, type Job } from '../../helpers/job.ts'
import type { hookPhases } from '../../../src-shared/contract/workflow-definition.ts'
import { type StateHook } from '../../../src-shared/contract/workflow-definition.ts'
import { createPlugins } from '../../../src-main/plugins/create-plugins.ts'
import type { PluginServices } from '../../../src-main/hooks/plugin.ts'
import { smallWorkflow, withHooks } from '../../helpers/small-workflow.ts'
import { lastHook, timeline } from '../../helpers/timeline.ts'

const works = 'date +%N >> work.txt; echo worked'
const blockedAgain = (job: Job, task_id: string, after = 0) =>
  job.running.taskWhere(task_id, (one) => one.status === 'blocked' && one.version > after && !one.entry_barrier)
const hooksInto = async (job: Job, task_id: string, to: string) =>
  (await job.transitions(task_id))
    .filter((entry) => entry.to_state === to)
    .map((entry) => entry.hooks.find((hook) => hook.action === 'check_retry_budget'))

test.concurrent('check_retry_budget hands the task to a person after too many rejections by its gate', async () => {
  const check: StateHook = { plugin: 'check_retry_budget', config: { max_rejections: 1 } }
  await using job = await startJob({
    workflow: (standard) => withHooks({ in_progress: { before_enter: [check] } })(budget(50)(standard)),
  })
  const task = await job.task({ review_config: { ci_steps: ['echo never; exit 3'] } })
  await job.claim(task, await job.agent(works))
  const blocked = await blockedAgain(job, task.id)
  expect(blocked.error_annotation).toMatchObject({
    type: 'retry_budget_exhausted',
    message: 'Review failed 2 times. Read why, then move the task.',
    recovery_actions: [],
  })
  expect(blocked.error_annotation?.reason).toContain('never')
  expect(await hooksInto(job, task.id, 'in_progress')).toMatchObject([
    { phase: 'before_enter', action: 'check_retry_budget', outcome: 'skipped', reason: 'not_needed' },
    { outcome: 'ok', reason: '1 of 1 failed reviews' },
    { outcome: 'failed', reason: blocked.error_annotation?.message },
  ])
  // The second rejection dispatched no one.
  expect(await job.executions(task.id)).toHaveLength(2)
  // A person's action gives the agents a new budget.
  const { version } = await job.running.client.call('tasks.get', { task_id: task.id })
  await job.running.client.call('tasks.transition', { task_id: task.id, status: 'in_progress', version })
  await blockedAgain(job, task.id, version)
  expect((await job.transitions(task.id)).filter((one) => one.rejection)).toHaveLength(4)
})

test.concurrent('check_retry_budget counts at a gate the rejections of that gate, or of the named one', async () => {
  const own: StateHook = { plugin: 'check_retry_budget', config: { max_rejections: 1 } }
  const named: StateHook = { plugin: 'check_retry_budget', config: { gate: 'planning', max_rejections: 0 } }
  const standardFirst = withHooks({ review: { on_enter: [named, own] } })
  await using job = await startJob({ workflow: (standard) => standardFirst(budget(50)(standard)) })
  const task = await job.task({ review_config: { ci_steps: ['test -f good.txt'] } })
  await job.claim(task, await job.agent(`${works}; test "$(wc -l < work.txt)" -lt 3 || touch good.txt`))
  const blocked = await blockedAgain(job, task.id)
  expect(blocked.error_annotation?.type).toBe('retry_budget_exhausted')
  expect((await job.transitions(task.id)).filter((one) => one.rejection)).toHaveLength(2)
  const last = (await job.transitions(task.id)).findLast((entry) => entry.to_state === 'review')
  expect(last?.hooks.map(({ action, outcome, reason }) => [action, outcome, reason])).toEqual([
    ['run_ci_steps', 'ok', undefined],
    ['dispatch_role_agent', 'skipped', 'no_agent'],
    ['check_retry_budget', 'ok', '0 of 0 failed reviews'],
    ['check_retry_budget', 'failed', blocked.error_annotation?.message],
  ])
})

test.concurrent('auto_cascade_on_review_pass merges a task whose review passed', async () => {
  const auto: StateHook = { plugin: 'auto_cascade_on_review_pass', on_success: { cascade: 'merging' } }
  await using job = await startJob({ workflow: withHooks({ review: { after_enter: [auto, lastHook] } }) })
  const task = await job.task({ review_config: { ci_steps: ['grep -q worked work.txt'] } })
  await job.claim(task, await job.agent('echo worked > work.txt; echo done'))
  await job.running.taskWhere(task.id, (one) => one.status === 'done')
  expect(await job.history(task.id)).toEqual([
    'backlog > in_progress by agent',
    'in_progress > review by system',
    'review > merging by system',
    'merging > done by system',
  ])
  expect(await job.repository.git(['show', 'main:work.txt'])).toBe('worked')
})

test.concurrent('auto_cascade_on_review_pass waits for reviewers', async () => {
  const auto: StateHook = { plugin: 'auto_cascade_on_review_pass', on_success: { cascade: 'merging' } }
  await using job = await startJob({ workflow: withHooks({ review: { after_enter: [auto, lastHook] } }) })
  const reviewer = await job.running.client.call('agents.create', {
    name: 'Elsewhere',
    executor: 'external',
    config: {},
  })
  const task = await job.task()
  await job.running.client.call('tasks.assign_role', { task_id: task.id, role: 'reviewer', agent_id: reviewer.id })
  await job.claim(task, await job.agent('echo worked > work.txt; echo done'))
  expect(await timeline(job, task.id, 'review')).toContain(
    'after_enter auto_cascade_on_review_pass skipped review_not_passed',
  )
  expect(await job.running.client.call('tasks.get', { task_id: task.id })).toMatchObject({ status: 'review' })
  await job.running.client.call('tasks.verdict', { task_id: task.id, verdict: 'pass' })
  await job.running.taskWhere(task.id, (one) => one.status === 'done')
})

test.concurrent('dispatch_role_agent starts the holder of the entered state’s role, or says why not', async () => {
  const dispatch: StateHook = { plugin: 'dispatch_role_agent' }
  const withAuditor = (standard: ReturnType<ReturnType<typeof smallWorkflow>>) => ({
    roles: [...standard.roles, { name: 'auditor', label: 'Auditor' }],
    states: standard.states.map((one) => (one.name === 'blocked' ? { ...one, role: 'auditor' } : one)),
  })
  await using job = await startJob({
    workflow: () => withAuditor(smallWorkflow({ blocked: { on_enter: [dispatch, lastHook] } })()),
  })
  const auditor = await job.agent('echo looked', 'Auditor')
  const [audited, alone] = [await job.task(), await job.task()]
  await job.running.client.call('tasks.assign_role', { task_id: audited.id, role: 'auditor', agent_id: auditor.id })
  for (const task of [audited, alone]) {
    const { version } = await job.running.client.call('tasks.get', { task_id: task.id })
    await job.running.client.call('tasks.transition', { task_id: task.id, status: 'blocked', version })
  }
  expect(await timeline(job, audited.id, 'blocked')).toEqual(['on_enter dispatch_role_agent ok'])
  expect(await timeline(job, alone.id, 'blocked')).toEqual(['on_enter dispatch_role_agent skipped no_agent'])
  const [execution] = await job.running.eventually(
    () => job.executions(audited.id),
    ([one]) => one?.status === 'succeeded',
  )
  expect(execution).toMatchObject({ role: 'auditor', agent_id: auditor.id })
  expect(await job.executions(alone.id)).toEqual([])
})

test.concurrent('publish_task_blocked tells people that a task needs them, and why', async () => {
  const publish: StateHook = { plugin: 'publish_task_blocked' }
  await using job = await startJob({ workflow: smallWorkflow({ blocked: { on_enter: [publish, lastHook] } }) })
  const { client } = job.running
  const [asked, silent] = [await job.task({ title: 'Asked' }), await job.task({ title: 'Silent' })]
  await client.call('tasks.transition', { task_id: asked.id, status: 'blocked', version: 1, reason: 'Which port?' })
  await client.call('tasks.transition', { task_id: silent.id, status: 'blocked', version: 1 })
  expect(await timeline(job, asked.id, 'blocked')).toEqual(['on_enter publish_task_blocked ok'])
  await timeline(job, silent.id, 'blocked')
  const { items } = await client.call('notifications.list', { project_id: job.project.id })
  expect(items.map(({ task_id, event_type, body }) => [task_id, event_type, body])).toEqual([
    [silent.id, 'task.blocked', null],
    [asked.id, 'task.blocked', 'Which port?'],
  ])
})

test.concurrent('skips a plugin at an unsupported phase with unsupported_event', async () => {
  const plugins = [...createPlugins({} as PluginServices).values()]
  const unsupported = (phase: (typeof hookPhases)[number]): StateHook[] =>
    plugins.filter((one) => !one.phases.includes(phase)).map(({ name }) => ({ plugin: name }))
  await using job = await startJob({
    workflow: smallWorkflow({
      todo: { on_exit: unsupported('on_exit') },
      blocked: {
        before_enter: unsupported('before_enter'),
        on_enter: unsupported('on_enter'),
        after_enter: [...unsupported('after_enter'), lastHook],
      },
    }),
  })
  const task = await job.task()
  await job.running.client.call('tasks.transition', { task_id: task.id, status: 'blocked', version: 1 })
  const phases = ['on_exit', 'before_enter', 'on_enter', 'after_enter'] as const
  expect(await timeline(job, task.id, 'blocked')).toEqual(
    phases.flatMap((phase) =>
      unsupported(phase).map((one) => `${phase} ${one.plugin ?? ''} skipped unsupported_event`),
    ),
  )
})

test.concurrent('run_ci_steps runs before any reviewer, and run_merge merges what passed', async () => {
  await using job = await startJob()
  const task = await job.task({ review_config: { ci_steps: ['grep -q worked work.txt'] } })
  await job.claim(task, await job.agent('echo worked > work.txt; echo done'))
  const ready = await job.running.taskWhere(task.id, (one) => one.review_passed_at !== null && !one.entry_barrier)
  const merging = { task_id: task.id, status: 'merging', version: ready.version }
  expect((await job.running.client.call('tasks.transition', merging)).task.status).toBe('done')
  const said = async (to: string) =>
    (await job.transitions(task.id))
      .find((entry) => entry.to_state === to)
      ?.hooks.map(({ phase, action, outcome }) => `${phase} ${action} ${outcome}`)
  expect(await said('review')).toEqual(['before_enter run_ci_steps ok', 'on_enter dispatch_role_agent skipped'])
  expect(await said('merging')).toEqual(['after_enter run_merge ok'])
  expect(await job.repository.git(['show', 'main:work.txt'])).toBe('worked')
})
