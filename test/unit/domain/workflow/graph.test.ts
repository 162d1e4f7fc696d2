import { pluginTraits } from '../../../../src-main/plugins/create-plugins.ts'
import { expect, test } from 'vitest'
import {
  forwardOf,
  indexWorkflow,
  isDone,
  isReviewGate,
  roleOf,
  workStateOf,
} from '../../../../src-main/domain/workflow/graph.ts'
import type { WorkflowState } from '../../../../src-shared/contract/workflow-definition.ts'
import { standard, standardDefinition } from '../workflows.ts'

const at = (name: string): WorkflowState => {
  const state = standard.states.get(name)
  if (!state) throw new Error(name)
  return state
}

const landmarks = ({ entry, queue, cancellation, blocked }: typeof standard) =>
  [entry, queue, cancellation, blocked].map((state) => state?.name)

test('recognizes the states of the default workflow by kind, not by name', () => {
  expect(landmarks(standard)).toEqual(['backlog', 'todo', 'cancelled', 'blocked'])
  const places = ['name', 'to', 'cascade', 'reject_target', 'initial_state', 'cancellation_state']
  const renamed = JSON.parse(JSON.stringify(standardDefinition), (key, value: unknown) =>
    typeof value === 'string' && places.includes(key) && standard.states.has(value) ? `my ${value}` : value,
  ) as typeof standardDefinition
  expect(landmarks(indexWorkflow(renamed, pluginTraits))).toEqual([
    'my backlog',
    'my todo',
    'my cancelled',
    'my blocked',
  ])
  // The state with publish_task_blocked is the blocked one, whatever its name.
  const states = standardDefinition.states.map(({ hooks, ...state }) =>
    state.name === 'blocked' ? state : { ...state, ...(hooks && { hooks }) },
  )
  expect(indexWorkflow({ ...standardDefinition, states }, pluginTraits).blocked).toBeNull()
})

test('has in the default workflow exactly the states of the interface', () => {
  expect(standardDefinition.states.map((state) => state.name).toSorted()).toEqual([
    ...['backlog', 'blocked', 'cancelled', 'done', 'in_progress', 'merge_failed', 'merging', 'planning', 'review'],
    'todo',
  ])
})

test('takes the first transition as the forward one', () => {
  expect(
    ['backlog', 'todo', 'planning', 'in_progress', 'review', 'merging', 'done'].map(
      (name) => forwardOf(standard, at(name))?.name,
    ),
  ).toEqual(['todo', 'planning', 'in_progress', 'review', 'merging', 'done', undefined])
})

test('leads a claim to the first active state ahead, and to none in a circle without one', () => {
  expect(workStateOf(standard, standard.entry)?.name).toBe('in_progress')
  expect(workStateOf(standard, at('review'))).toBeNull()
  const circle = indexWorkflow(
    {
      roles: [],
      states: [
        {
          name: 'a',
          kind: 'initial',
          column: 'A',
          label: 'A',
          transitions: [{ to: 'b', label: 'b', audience: 'all' }],
        },
        { name: 'b', kind: 'custom', column: 'A', label: 'B', transitions: [{ to: 'a', label: 'a', audience: 'all' }] },
      ],
    },
    pluginTraits,
  )
  expect(workStateOf(circle, circle.queue)).toBeNull()
  expect([circle.cancellation, circle.blocked]).toEqual([null, null])
})

test('gives active states the role assignee by default', () => {
  const { role: _none, ...bare } = at('in_progress')
  expect([roleOf(bare), roleOf(at('in_progress')), roleOf(at('merging'))]).toEqual(['assignee', 'coder', null])
})

test('keeps reviews only for a gate whose entry runs the CI', () => {
  expect(standardDefinition.states.filter((state) => isReviewGate(standard, state)).map((state) => state.name)).toEqual(
    ['review'],
  )
})

test('counts done as terminal and not cancelled', () => {
  expect(standardDefinition.states.filter((state) => isDone(standard, state.name)).map((state) => state.name)).toEqual([
    'done',
  ])
})

test('refuses a workflow without a queue', () => {
  expect(() => indexWorkflow({ roles: [], states: [] as never }, pluginTraits)).toThrow('initial')
})

test('ignores a plugin in a phase where it does not run', () => {
  const withChecksAt = (phase: 'before_enter' | 'on_exit') => {
    const hooks = { [phase]: [{ plugin: 'run_ci_steps' }] }
    const states = standardDefinition.states.map((state) => (state.name === 'review' ? { ...state, hooks } : state))
    const workflow = indexWorkflow({ ...standardDefinition, states }, pluginTraits)
    const review = workflow.states.get('review')
    return review && isReviewGate(workflow, review)
  }
  expect([withChecksAt('before_enter'), withChecksAt('on_exit')]).toEqual([true, false])
})
