import { expect, test } from 'vitest'
import { startJob } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { renaming, updateWorkflow, workflowOf } from './workflow-edits.ts'

test('walks the current workflow without a definition', async () => {
  await using job = await startJob()
  const project_id = job.project.id
  const run = await job.running.client.call('projects.dry_run', { project_id })
  expect(run.paths.map(({ name, ends_in }) => [name, ends_in])).toEqual([
    ['Straight to Done', 'done'],
    ['Block at Planning, then Resume at Blocked, to Done', 'done'],
  ])
  expect(run.loops).toContainEqual({ states: ['in_progress', 'review'], budget: 3 })
  expect([run.dead_ends, run.stuck_gates]).toEqual([[], []])
  await updateWorkflow(job, renaming(await workflowOf(job), { done: 'finished' }))
  const renamed = await job.running.client.call('projects.dry_run', { project_id })
  expect(renamed.paths[0]?.ends_in).toBe('finished')
})

test('walks an unsaved definition, and changes nothing', async () => {
  await using job = await startJob()
  const before = await job.running.client.call('projects.get', { project_id: job.project.id })
  const definition = {
    states: [
      { name: 'a', kind: 'initial', column: 'A', label: 'A', transitions: [{ to: 'gate', label: 'Ask' }] },
      {
        name: 'gate',
        kind: 'gate',
        column: 'A',
        label: 'Gate',
        gate_config: { requires_human_approval: true, reject_target: 'a', max_rejections: 2 },
        transitions: [{ to: 'end', label: 'On', audience: 'agent_only' }],
        hooks: { before_enter: [{ script: 'make check' }], on_enter: [{ plugin: 'dispatch_role_agent' }] },
      },
      { name: 'hole', kind: 'custom', column: 'A', label: 'Hole' },
      { name: 'end', kind: 'terminal', column: 'A', label: 'End' },
    ].map((state) =>
      state.name === 'a'
        ? { ...state, transitions: [...(state.transitions ?? []), { to: 'hole', label: 'Fall' }] }
        : state,
    ),
  }
  expect(await job.running.client.call('projects.dry_run', { project_id: job.project.id, definition })).toEqual({
    paths: [
      {
        name: 'Straight to Gate',
        states: ['a', 'gate'],
        hooks: [
          { state: 'gate', phase: 'before_enter', action: 'script' },
          { state: 'gate', phase: 'on_enter', action: 'dispatch_role_agent' },
        ],
        ends_in: 'gate',
      },
      { name: 'Fall at A, to Hole', states: ['a', 'hole'], hooks: [], ends_in: 'hole' },
    ],
    loops: [{ states: ['a', 'gate'], budget: 2 }],
    dead_ends: ['hole'],
    stuck_gates: [{ state: 'gate', reason: "Requires a person's approval, but only agents can move on to end." }],
    warnings: [],
    traits: {
      states: {
        ...Object.fromEntries(definition.states.map(({ name }) => [name, []])),
        gate: ['needs_worktree', 'dispatches'],
      },
      plugins: (await workflowOf(job)).traits?.plugins,
    },
  })
  expect(await job.running.client.call('projects.get', { project_id: job.project.id })).toEqual(before)
})

test('answers workflow_invalid with the broken rule', async () => {
  await using job = await startJob()
  const standard = await workflowOf(job)
  const error = await refused(
    job.running.client.call('projects.dry_run', {
      project_id: job.project.id,
      definition: { ...standard, initial_state: 'nowhere' },
    }),
  )
  expect([error.status, error.code, error.details?.['rule']]).toEqual([
    400,
    'workflow_invalid',
    'initial_state_missing',
  ])
})
