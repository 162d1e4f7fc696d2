import { expect, test } from 'vitest'
import type { StateHook } from '../../../src-shared/contract/workflow-definition.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import type { Hooks } from '../../helpers/small-workflow.ts'
import { lastHook, timeline } from '../../helpers/timeline.ts'

const names = ['todo', 'one', 'two', 'three', 'four', 'five', 'aside', 'done']

/** States in a row with the given hooks; people may move between all of them. */
const row = (hooks: Hooks) => () => ({
  states: names.map((name, at) => ({
    name,
    kind: at === 0 ? 'initial' : name === 'done' ? 'terminal' : 'custom',
    column: 'All',
    label: name,
    transitions: name === 'done' ? [] : names.filter((to) => to !== name).map((to) => ({ to, label: to })),
    ...(hooks[name] && { hooks: hooks[name] }),
  })),
})

const leadsTo = (cascade: string): StateHook => ({ script: 'true', on_success: { cascade } })

async function moved(job: Job, status: string): Promise<string> {
  const { id: task_id, version } = await job.task()
  await job.running.client.call('tasks.transition', { task_id, status, version })
  return task_id
}

const saidAt = async (job: Job, task_id: string, to: string) =>
  (await job.transitions(task_id))
    .findLast((entry) => entry.to_state === to)
    ?.hooks.map(({ phase, outcome, reason }) => [phase, outcome, reason ?? ''])

test.concurrent('follows at most three cascades, and says why in the timeline', async () => {
  const next = ['two', 'three', 'four', 'five', 'aside']
  const hooks = next.map((to, at) => [names[at + 1] ?? '', { after_enter: [leadsTo(to)] }] as const)
  await using job = await startJob({ workflow: row(Object.fromEntries(hooks)) })
  const task_id = await moved(job, 'one')
  const outcomes = await job.running.eventually(
    () => saidAt(job, task_id, 'four'),
    (all) => all !== undefined && all.length > 0,
  )
  expect(outcomes).toEqual([['after_enter', 'ok', 'cascade_depth']])
  expect(await job.history(task_id)).toEqual([
    'todo > one by user',
    'one > two by user',
    'two > three by user',
    'three > four by user',
  ])
})

test.concurrent('continues after a failed hook only if its policy names a state', async () => {
  const fails: StateHook = { script: 'exit 3' }
  const diverted: StateHook = { script: 'exit 3', on_failure: { cascade: 'aside' } }
  await using job = await startJob({
    workflow: row({
      one: { on_exit: [diverted] },
      two: { on_enter: [{ ...fails, on_failure: 'log' }, diverted] },
      three: { after_enter: [fails] },
    }),
  })
  const logged = await moved(job, 'three')
  const both = await moved(job, 'two')
  await job.running.taskWhere(both, (one) => one.status === 'aside')
  expect((await saidAt(job, both, 'two'))?.map(([phase, outcome]) => [phase, outcome])).toEqual([
    ['on_enter', 'failed'],
    ['on_enter', 'failed'],
  ])
  const left = await moved(job, 'one')
  await job.running.client.call('tasks.transition', { task_id: left, status: 'four', version: 2 })
  await job.running.taskWhere(left, (one) => one.status === 'aside')
  expect(await job.history(left)).toEqual(['todo > one by user', 'one > four by user', 'four > aside by user'])
  const outcomes = await job.running.eventually(
    () => saidAt(job, logged, 'three'),
    (all) => all !== undefined && all.length > 0,
  )
  expect(outcomes).toMatchObject([['after_enter', 'failed', expect.any(String)]])
  expect(await job.history(logged)).toEqual(['todo > three by user'])
  expect(await job.running.client.call('tasks.get', { task_id: logged })).toMatchObject({
    status: 'three',
    error_annotation: null,
  })
})

test.concurrent('follows no cascade that depends on a skipped hook', async () => {
  await using job = await startJob({
    workflow: row({
      one: { on_enter: [{ plugin: 'cleanup_workspace_now' }], after_enter: [leadsTo('two'), lastHook] },
    }),
  })
  const told: unknown[] = []
  const events = job.running.client.events({}, null, AbortSignal.timeout(30_000))
  const listening = (async () => {
    for await (const item of events) {
      if (item.kind !== 'event' || item.event.type !== 'transition.effect_failed') continue
      told.push([item.event.data.phase, item.event.data.action])
      return
    }
  })()
  const task_id = await moved(job, 'one')
  expect(await timeline(job, task_id, 'one')).toEqual(['on_enter cleanup_workspace_now skipped no_workspace'])
  await listening
  // The last hook failed first.
  expect(told).toEqual([['after_enter', 'script']])
  expect(await saidAt(job, task_id, 'one')).toMatchObject([
    ['on_enter', 'skipped', 'no_workspace'],
    ['after_enter', 'ok', 'cascade_skipped'],
    ['after_enter', 'failed', expect.any(String)],
  ])
  expect(await job.history(task_id)).toEqual(['todo > one by user'])
})
