import { pluginTraits } from '../../../../src-main/plugins/create-plugins.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasBarrier, stepsOf, type Step } from '../../../../src-main/domain/transition/phases.ts'
import { indexWorkflow } from '../../../../src-main/domain/workflow/graph.ts'
import type { HookPhase } from '../../../../src-shared/contract/workflow-definition.ts'
import { anyDefinition, anyNames, changed, standard } from '../workflows.ts'

const name = (step: Step) => (step.kind === 'hook' ? `${step.phase} ${step.hook.plugin ?? 'script'}` : step.kind)

test.each([
  ['backlog', 'todo', []],
  [
    'todo',
    'in_progress',
    ['workspace', 'before_enter knowledge-inject', 'clear_barrier', 'on_enter dispatch_role_agent'],
  ],
  [
    'in_progress',
    'review',
    ['workspace', 'before_enter run_ci_steps', 'clear_barrier', 'on_enter dispatch_role_agent'],
  ],
  ['review', 'merging', ['after_enter run_merge']],
  [
    'merging',
    'done',
    ['on_enter knowledge-capture', 'on_enter propagate_done_to_subtasks', 'on_enter satisfy_dependents', 'cleanup'],
  ],
  ['merging', 'merge_failed', ['cleanup']],
  ['review', 'blocked', ['on_enter publish_task_blocked']],
  ['in_progress', 'cancelled', ['on_enter cancel_pending_subtasks', 'cleanup']],
])('orders after %s > %s the steps of the definition', (from, to, expected) => {
  expect(stepsOf(standard, from, to).map(name)).toEqual(expected)
})

test('does not clean up twice where a hook cleans up the worktree', () => {
  const withHook = (plugin: string, phase: HookPhase) =>
    indexWorkflow(
      changed({ done: { hooks: { [phase]: [{ plugin }] } }, merge_failed: { hooks: { [phase]: [{ plugin }] } } }),
      pluginTraits,
    )
  for (const plugin of ['cleanup_workspace_now', 'schedule_workspace_cleanup']) {
    for (const phase of ['on_enter', 'after_enter'] as const) {
      expect(stepsOf(withHook(plugin, phase), 'merging', 'done').map(name)).toEqual([`${phase} ${plugin}`])
      expect(stepsOf(withHook(plugin, phase), 'merging', 'merge_failed').map(name)).toEqual([`${phase} ${plugin}`])
    }
    // The plugin does nothing there, so it replaces no other.
    expect(stepsOf(withHook(plugin, 'before_enter'), 'merging', 'done').at(-1)).toEqual({ kind: 'cleanup' })
  }
  expect(stepsOf(withHook('satisfy_dependents', 'on_enter'), 'merging', 'done').at(-1)).toEqual({ kind: 'cleanup' })
})

const order = [
  'on_exit',
  'workspace',
  'before_enter',
  'clear_barrier',
  'dispatch',
  'on_enter',
  'after_enter',
  'cleanup',
]

test('keeps the order of the phases in any workflow, and cursors valid', () => {
  const any = fc.tuple(anyDefinition, fc.constantFrom(...anyNames), fc.constantFrom(...anyNames))
  fc.assert(
    fc.property(any, ([definition, from, to]) => {
      const steps = stepsOf(indexWorkflow(definition, pluginTraits), from, to)
      const ranks = steps.map((step) => order.indexOf(step.kind === 'hook' ? step.phase : step.kind))
      expect(ranks).toEqual([...ranks].sort((a, b) => a - b))
      expect(steps.filter((step) => step.kind === 'clear_barrier').length).toBeLessThanOrEqual(1)
      // Every step that sets the barrier is followed by one that lowers it.
      const holds = steps.some(
        (step) =>
          step.kind === 'workspace' ||
          (step.kind === 'hook' && (step.phase === 'on_exit' || step.phase === 'before_enter')),
      )
      expect(hasBarrier(steps)).toBe(holds)
      const hooks = steps.filter((step) => step.kind === 'hook').length
      const source = definition.states.find((state) => state.name === from)?.hooks ?? {}
      const target = definition.states.find((state) => state.name === to)?.hooks ?? {}
      const declared = [source.on_exit, target.before_enter, target.on_enter, target.after_enter].flatMap(
        (one) => one ?? [],
      )
      expect(hooks).toBe(declared.length)
      expect(stepsOf(indexWorkflow(structuredClone(definition), pluginTraits), from, to)).toEqual(steps)
    }),
  )
})
