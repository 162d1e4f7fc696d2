import { pluginTraits } from '../../../../src-main/plugins/create-plugins.ts'
import { expect, test } from 'vitest'
import type { LifecycleHooks, ScriptHook } from '../../../../src-shared/contract/lifecycle-hooks.ts'
import { isRefusal } from '../../../../src-main/domain/refusal.ts'
import { planTransition } from '../../../../src-main/domain/transition/plan-transition.ts'
import { indexWorkflow } from '../../../../src-main/domain/workflow/graph.ts'
import { changed, standard } from '../workflows.ts'

const hook: ScriptHook = {
  type: 'script',
  command: 'true',
  timeout_seconds: 30,
  blocking: false,
  success_exit_codes: [0],
  applies_to: 'all',
}

function planned(from: string, to: string, hooks: LifecycleHooks, workflow = standard) {
  const here = { workflow, status: from, version: 1, entry_barrier: false, archived: false, latest_review: null }
  const plan = planTransition({ to, cause: 'cascade', triggered_by: 'system', version: null }, { ...here, hooks })
  if (isRefusal(plan)) throw new Error(plan.message)
  return plan
}

const kinds = (...args: Parameters<typeof planned>) => planned(...args).own_steps?.map(({ kind }) => kind)

test('has only the workflow’s steps without hooks for the event', () => {
  expect(planned('todo', 'in_progress', {}).own_steps).toBeNull()
  expect(planned('todo', 'in_progress', { on_task_done: [hook] }).own_steps).toBeNull()
  expect(planned('in_progress', 'cancelled', { on_work_stop: [hook] }).own_steps).toBeNull()
})

test('runs hooks before work after the worktree exists, and checks them before the barrier falls', () => {
  const off = { type: 'plugin', name: 'knowledge-inject', enabled: false, applies_to: 'all' } as const
  const { own_steps, barrier } = planned('todo', 'in_progress', { before_work: [hook, off, hook] })
  expect(barrier).toBe(true)
  const steps = own_steps ?? []
  const at = (kind: string) => steps.findIndex((step) => step.kind === kind)
  expect(steps.slice(at('workspace') + 1, at('check_before_work'))).toEqual([
    { kind: 'before_work', index: 0, hook },
    { kind: 'before_work', index: 2, hook },
  ])
  expect(at('check_before_work')).toBeLessThan(at('clear_barrier'))
})

test('waits for the stop of work before what follows it', () => {
  expect(kinds('in_progress', 'review', { on_work_stop: [hook] })?.[0]).toBe('await_work_stop')
  const quiet = indexWorkflow(changed({ blocked: { hooks: {} } }), pluginTraits)
  expect(planned('in_progress', 'blocked', {}, quiet).has_steps).toBe(false)
  expect(kinds('in_progress', 'blocked', { on_work_start: [hook] }, quiet)).toEqual(['await_work_stop'])
  expect(planned('in_progress', 'blocked', { on_work_start: [hook] }, quiet)).toMatchObject({
    has_steps: true,
    barrier: false,
  })
})
