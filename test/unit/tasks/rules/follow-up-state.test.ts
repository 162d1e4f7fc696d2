import { pluginTraits } from '../../../../src-main/plugins/create-plugins.ts'
import { expect, test } from 'vitest'
import { followUpState } from '../../../../src-main/tasks/rules/follow-up-state.ts'
import { indexWorkflow, type Workflow } from '../../../../src-main/domain/workflow/graph.ts'
import { changed, standard } from '../../domain/workflows.ts'

function stateFor(status: string, from: readonly string[] = [], workflow: Workflow = standard): string {
  const audit = from.map((from_state) => ({ from_state }))
  const found = followUpState({ workflow, status, audit })
  return 'name' in found ? found.name : found.code
}

test.each([
  ['a state that works takes feedback up itself', 'in_progress', ['backlog'], 'in_progress'],
  ['a gate sends it where rejected work goes', 'review', ['backlog', 'in_progress'], 'in_progress'],
  ['beyond a gate it goes back that gate’s way', 'merging', ['backlog', 'in_progress', 'review'], 'in_progress'],
  ['after a failed merge too', 'merge_failed', ['in_progress', 'review', 'merging'], 'in_progress'],
  ['a blocked task goes back where the work was', 'blocked', ['todo', 'in_progress'], 'in_progress'],
  ['a blocked task that nobody worked on has nobody to send it to', 'blocked', ['todo'], 'not_claimable'],
  ['what is not started has nobody to send it to', 'todo', ['backlog', 'in_progress'], 'not_claimable'],
  ['a gate before the work has nobody to send it to', 'planning', ['backlog', 'todo'], 'not_claimable'],
  ['a finished task takes no more feedback', 'done', ['review', 'merging'], 'task_terminal'],
  ['a cancelled one neither', 'cancelled', ['in_progress'], 'task_terminal'],
  ['a state that was taken out of the workflow is no place to work', 'gone', ['in_progress'], 'not_claimable'],
])('%s', (_name, status, from, expected) => {
  expect(stateFor(status, from)).toBe(expected)
})

test('prefers the gate’s own reject target to other working states', () => {
  const workflow = indexWorkflow(
    changed({
      merge_failed: { kind: 'active', role: 'reviewer' },
      review: { gate_config: { requires_human_approval: false, reject_target: 'merge_failed' } },
    }),
    pluginTraits,
  )
  expect(stateFor('review', ['in_progress'], workflow)).toBe('merge_failed')
  expect(stateFor('merging', ['in_progress', 'review'], workflow)).toBe('merge_failed')
})
