import fc from 'fast-check'
import { expect, test } from 'vitest'
import { validateWorkflow } from '../../../../src-main/domain/workflow/validate.ts'
import type { WorkflowDefinition, WorkflowState } from '../../../../src-shared/contract/workflow-definition.ts'
import { anyDefinition, changed, plugins, standardDefinition } from '../workflows.ts'

const rulesOf = (definition: WorkflowDefinition) => validateWorkflow(definition, plugins).map((issue) => issue.rule)
const to = (...targets: string[]) => targets.map((target) => ({ to: target, label: target, audience: 'all' as const }))

test('finds no issue in the built-in workflow', () => {
  expect(validateWorkflow(standardDefinition, plugins)).toEqual([])
})

const without = (name: string): WorkflowDefinition => ({
  ...standardDefinition,
  states: standardDefinition.states.filter((state) => state.name !== name),
})
const orphan: WorkflowState = { name: 'island', kind: 'custom', column: 'X', label: 'Island', transitions: [] }

test.each<[string, string, WorkflowDefinition]>([
  ['no state of kind initial', 'single_initial', changed({ todo: { kind: 'custom' } })],
  ['two states of kind initial', 'single_initial', changed({ planning: { kind: 'initial' } })],
  ['no terminal state', 'terminal_required', changed({ done: { kind: 'custom' }, cancelled: { kind: 'custom' } })],
  [
    'a state that nothing leads to',
    'unreachable_state',
    { ...standardDefinition, states: [...standardDefinition.states, orphan] },
  ],
  ['a role that is not declared', 'undeclared_role', changed({ review: { role: 'critic' } })],
  ['the role assignee on a gate', 'assignee_only_on_active', changed({ review: { role: 'assignee' } })],
  [
    'a reject target that does not exist',
    'reject_target_missing',
    changed({ review: { gate_config: { reject_target: 'nowhere', requires_human_approval: false } } }),
  ],
  [
    'a gate_config of what is no gate',
    'schema',
    changed({ in_progress: { gate_config: { max_rejections: 2, requires_human_approval: false } } }),
  ],
  ['a column of spaces', 'column_empty', changed({ todo: { column: '  ' } })],
  [
    'a name used twice',
    'duplicate_state',
    { ...standardDefinition, states: [...standardDefinition.states, { ...orphan, name: 'todo' }] },
  ],
  [
    'a transition to nowhere',
    'transition_target_missing',
    changed({ backlog: { transitions: to('todo', 'nowhere') } }),
  ],
  [
    'a cascade to nowhere',
    'transition_target_missing',
    changed({ merging: { hooks: { after_enter: [{ plugin: 'run_merge', on_success: { cascade: 'nowhere' } }] } } }),
  ],
  ['a plugin that does not exist', 'unknown_plugin', changed({ todo: { hooks: { on_enter: [{ plugin: 'magic' }] } } })],
  [
    'an initial_state that does not exist',
    'initial_state_missing',
    { ...standardDefinition, initial_state: 'nowhere' },
  ],
  [
    'a cancellation_state that does not exist',
    'cancellation_state_missing',
    { ...standardDefinition, cancellation_state: 'nowhere' },
  ],
  [
    'a cancellation_state that is not terminal',
    'cancellation_state_missing',
    { ...standardDefinition, cancellation_state: 'blocked' },
  ],
  ['an initial_state that is terminal', 'initial_state_missing', { ...standardDefinition, initial_state: 'done' }],
  [
    'a cancelled state that is not terminal and that nothing leads to',
    'unreachable_state',
    (({ cancellation_state: _none, ...rest }) => rest)(changed({ cancelled: { kind: 'custom' } })),
  ],
  [
    'a role called assignee',
    'schema',
    { ...standardDefinition, roles: [...standardDefinition.roles, { name: 'assignee', label: 'Assignee' }] },
  ],
  [
    'a role declared twice',
    'schema',
    { ...standardDefinition, roles: [...standardDefinition.roles, { name: 'coder', label: 'Another' }] },
  ],
  [
    'a role by the name of something that every object has',
    'schema',
    { ...standardDefinition, roles: [...standardDefinition.roles, { name: 'constructor', label: 'Builder' }] },
  ],
  [
    'an option that its plugin does not know',
    'schema',
    changed({ todo: { hooks: { on_enter: [{ plugin: 'publish_task_blocked', config: { seconds: 'many' } }] } } }),
  ],
])('%s breaks %s', (_what, rule, definition) => {
  expect(rulesOf(definition)).toContain(rule)
})

test('names the place of an issue', () => {
  expect(validateWorkflow(changed({ planning: { role: 'critic' } }), plugins)).toEqual([
    {
      rule: 'undeclared_role',
      path: 'states.2.role',
      message: 'planning names the role critic, which roles does not declare.',
    },
  ])
})

test('points at a broken option and an unknown plugin, and names the known plugins', () => {
  const hooks = {
    on_enter: [{ script: 'true' }, { plugin: 'run_merge', config: { seconds: '1' } }, { plugin: 'magic' }],
  }
  const issues = validateWorkflow(changed({ backlog: { hooks } }), plugins)
  expect(issues.map(({ rule, path }) => [rule, path])).toEqual([
    ['schema', 'states.0.hooks.on_enter.1.config'],
    ['unknown_plugin', 'states.0.hooks.on_enter.2'],
  ])
  expect(issues.map(({ message }) => message)).toEqual([
    "The options of run_merge can't be used: seconds: Give a number.",
    expect.stringMatching(/^No plugin magic\. Available: .*run_ci_steps/),
  ])
})

test('reports all broken rules in the order of the states, unreachable states last', () => {
  const definition = changed({ todo: { column: '' }, review: { role: 'critic', transitions: to('nowhere') } })
  expect(rulesOf(definition)).toEqual([
    'column_empty',
    'undeclared_role',
    'transition_target_missing',
    'unreachable_state',
    'unreachable_state',
    'unreachable_state',
  ])
})

test('counts the initial state as reached wherever new tasks start', () => {
  const definition = {
    ...changed({ in_progress: { transitions: to('review', 'blocked') }, blocked: { transitions: to('in_progress') } }),
    initial_state: 'in_progress',
  }
  expect(validateWorkflow(definition, plugins).map(({ rule, path }) => [rule, path])).toEqual([
    ['unreachable_state', 'states.0'],
    ['unreachable_state', 'states.2'],
  ])
})

test('accepts an assignee on an active state, and a state reached only by rejection or cascade', () => {
  const rejected = changed({
    todo: { transitions: to('review') },
    planning: { transitions: to('done') },
    review: { transitions: to('merging'), gate_config: { reject_target: 'planning', requires_human_approval: false } },
    in_progress: { role: 'assignee' },
    merge_failed: { transitions: to('in_progress') },
    merging: {
      transitions: [],
      hooks: {
        after_enter: [{ script: 'x', on_success: { cascade: 'done' }, on_failure: { cascade: 'merge_failed' } }],
      },
    },
  })
  expect(rulesOf(changed({ in_progress: { role: 'assignee' } }))).toEqual([])
  expect(rulesOf(rejected)).not.toContain('assignee_only_on_active')
  expect(rulesOf(rejected)).toEqual([])
})

test('ignores gate settings on a state that is no gate', () => {
  const gate_config = { reject_target: 'island', requires_human_approval: false }
  const definition = (kind: WorkflowState['kind']) => {
    const { states, ...rest } = changed({ planning: { kind, gate_config } })
    return rulesOf({ ...rest, states: [...states, orphan] })
  }
  expect([definition('gate'), definition('custom')]).toEqual([[], ['schema', 'unreachable_state']])
})

test('accepts a workflow without a cancelled state', () => {
  const { cancellation_state: _none, ...rest } = without('cancelled')
  expect(rulesOf(rest)).toEqual([])
})

test('finds every state reachable in a definition without issues', () => {
  fc.assert(
    fc.property(anyDefinition, (definition) => {
      const issues = validateWorkflow(definition, plugins)
      expect(new Set(issues.map((issue) => issue.rule))).not.toContain('single_initial')
      const reached = new Set([definition.states.find((state) => state.kind === 'initial')?.name ?? ''])
      for (const name of reached) {
        const state = definition.states.find((one) => one.name === name)
        for (const { to: next } of state?.transitions ?? []) reached.add(next)
        for (const hook of Object.values(state?.hooks ?? {}).flat())
          if (hook.on_success) reached.add(hook.on_success.cascade)
      }
      const unreached = definition.states.filter((state) => !reached.has(state.name)).length
      expect(issues.filter((issue) => issue.rule === 'unreachable_state')).toHaveLength(unreached)
    }),
  )
})
