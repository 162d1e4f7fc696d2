import { expect, test } from 'vitest'
import { standard, standardDefinition } from '../workflows.ts'

test('is the specified workflow, state by state', () => {
  const { initial_state, cancellation_state, states } = standardDefinition
  expect([initial_state, cancellation_state]).toEqual(['backlog', 'cancelled'])
  expect(
    Object.fromEntries(
      states.map(({ name, kind, role, gate_config, cleanup }) => [name, { kind, role, gate_config, cleanup }]),
    ),
  ).toEqual({
    backlog: { kind: 'backlog' },
    todo: { kind: 'initial' },
    planning: { kind: 'gate', role: 'planner', gate_config: { requires_human_approval: true, reject_target: 'todo' } },
    in_progress: { kind: 'active', role: 'coder' },
    review: {
      kind: 'gate',
      role: 'reviewer',
      gate_config: { requires_human_approval: false, reject_target: 'in_progress', max_rejections: 3 },
    },
    merging: { kind: 'custom' },
    merge_failed: { kind: 'custom', cleanup: { policy: 'immediate' } },
    blocked: { kind: 'custom' },
    done: { kind: 'terminal', cleanup: { policy: 'immediate' } },
    cancelled: { kind: 'terminal' },
  })
})

test('declares its ways back, and continues after a failed merge with work or another merge', () => {
  const targets = (name: string) => standard.states.get(name)?.transitions.map(({ to }) => to)
  expect(targets('todo')).toContain('backlog')
  expect(targets('in_progress')).toContain('blocked')
  expect(targets('review')).toContain('blocked')
  expect(targets('blocked')).toContain('todo')
  expect(targets('merge_failed')).toEqual(['in_progress', 'merging'])
})
