import { afterAll, beforeAll, expect, test } from 'vitest'
import { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { drive } from './engine-drive.ts'
import { startEngineRig, type EngineRig } from './engine-rig.ts'
import type { Answer, State, Trigger } from './model-types.ts'

/** Past differences between engine and model, each as its shortest reproduction. */
let rig: EngineRig

beforeAll(async () => {
  rig = await startEngineRig()
})

afterAll(() => rig[Symbol.asyncDispose]())

type Sketch = Pick<State, 'name' | 'kind'> & Partial<State> & { readonly to?: readonly string[] }

function workflow(...states: readonly Sketch[]): WorkflowDefinition {
  const all: readonly Sketch[] = [...states, { name: 'done', kind: 'terminal' }]
  return WorkflowDefinition.parse({
    roles: [
      { name: 'coder', label: 'Coder' },
      { name: 'reviewer', label: 'Reviewer' },
    ],
    states: all.map(({ to = [], ...state }) => ({
      column: 'C',
      label: state.name,
      ...state,
      transitions: to.map((target) => ({ to: target, label: target, audience: 'all' })),
    })),
  })
}

/** Returns a task in `start`, and what is visible after each trigger. */
function begin(definition: WorkflowDefinition, start: string) {
  const { id } = rig.task(definition, start)
  return (trigger: Trigger, said: Readonly<Record<string, Answer>> = {}) => {
    rig.answer((action) => said[action] ?? 'ok')
    return drive(rig, id, trigger)
  }
}

const byUser = { by: 'user', stale: false } as const
const works: Omit<Sketch, 'name'> = {
  kind: 'active',
  role: 'coder',
  hooks: { on_enter: [{ plugin: 'dispatch_role_agent' }] },
}
const held: Sketch = {
  name: 'work',
  ...works,
  to: ['later', 'done'],
  hooks: { ...works.hooks, before_exit: [{ plugin: 'probe-0' }] },
}

const heldByAHook = async () => {
  const ask = begin(
    workflow({ name: 'queue', kind: 'initial', to: ['work'] }, held, { name: 'later', kind: 'custom', to: ['done'] }),
    'queue',
  )
  await ask({ kind: 'claim', by: 'coder' })
  const seen = await ask({ kind: 'execution_ends', well: true }, { 'probe-0': 'failed' })
  expect(seen).toMatchObject({ state: 'work', annotation: 'hook_failed', execution: null })
  return ask
}

test('returns a task to the queue for a new coder while a hook blocks an earlier move', async () => {
  const ask = await heldByAHook()
  expect(await ask({ kind: 'assign', role: 'coder', to: 'reviewer' })).toMatchObject({
    state: 'queue',
    annotation: null,
    roles: { coder: 'reviewer' },
    events: [{ type: 'transitioned', from: 'work', to: 'queue', by: 'user' }],
  })
})

test('cancels a blocked move on a claim in place, and asks the hook again after the new work', async () => {
  const ask = await heldByAHook()
  expect(await ask({ kind: 'claim', by: 'coder' })).toMatchObject({ answer: 'ok', state: 'work', execution: 'coder' })
  expect(await ask({ kind: 'execution_ends', well: true })).toMatchObject({ state: 'later', annotation: null })
})

test('dispatches an agent again that moves its task to more work of its role, and counts its end once', async () => {
  const states: readonly Sketch[] = [
    { name: 'work', ...works, to: ['polish'] },
    { name: 'polish', ...works, to: ['later'] },
    { name: 'later', kind: 'custom', to: ['done'] },
  ]
  const ask = begin(workflow({ name: 'queue', kind: 'initial', to: ['work'] }, ...states), 'queue')
  await ask({ kind: 'claim', by: 'coder' })
  const moved = await ask({ kind: 'transition', by: 'coder', stale: false, to: 'polish' })
  expect(moved).toMatchObject({ answer: 'ok', state: 'polish', execution: 'coder' })
  expect(await ask({ kind: 'execution_ends', well: true })).toMatchObject({ state: 'later', execution: null })
})

const gate = (more: Partial<Sketch>): Sketch => ({ name: 'review', kind: 'gate', to: ['done'], ...more })

test('hands a gate whose CI keeps failing without work to a person', async () => {
  const itself = gate({
    gate_config: { reject_target: 'review', requires_human_approval: false },
    hooks: { before_enter: [{ plugin: 'run_ci_steps' }] },
  })
  const ask = begin(workflow({ name: 'queue', kind: 'initial', to: ['review'] }, itself), 'queue')
  const seen = await ask({ kind: 'transition', ...byUser, to: 'review' }, { ci: 'failed' })
  expect(seen).toMatchObject({
    state: 'review',
    barrier: false,
    annotation: 'retry_budget_exhausted',
    review: 'failed',
  })
  expect(seen.audit.map((entry) => entry.rejection)).toEqual([false, true, true, true])
})

test('does not count a rejection by CI as failed hook, whatever the hook’s policy', async () => {
  const logged = gate({
    gate_config: { reject_target: 'queue', requires_human_approval: false },
    hooks: { before_enter: [{ plugin: 'run_ci_steps', on_failure: 'log' }] },
  })
  const ask = begin(workflow({ name: 'queue', kind: 'initial', to: ['review'] }, logged), 'queue')
  const seen = await ask({ kind: 'transition', ...byUser, to: 'review' }, { ci: 'failed' })
  expect(seen).toMatchObject({ state: 'queue', review: 'failed' })
  expect(seen.events.map((event) => event.type)).toEqual(['transitioned', 'transitioned'])
})

test('keeps the barrier from the commit on, also for a blocked cascade of the left state', async () => {
  const leaves = { on_exit: [{ plugin: 'probe-1', on_failure: { cascade: 'done' } }] }
  const stays = { before_exit: [{ plugin: 'probe-0' }] }
  const states: readonly Sketch[] = [
    { name: 'queue', kind: 'initial', to: ['later'], hooks: leaves },
    { name: 'later', kind: 'custom', to: ['done'], hooks: stays },
  ]
  const ask = begin(workflow(...states), 'queue')
  const seen = await ask({ kind: 'transition', ...byUser, to: 'later' }, { 'probe-0': 'failed', 'probe-1': 'failed' })
  expect(seen).toMatchObject({ state: 'later', barrier: true, annotation: 'hook_failed' })
  expect(await ask({ kind: 'transition', ...byUser, to: 'done' })).toMatchObject({ answer: 'entry_barrier' })
  expect(await ask({ kind: 'recover', action: 'retry_hook' })).toMatchObject({ state: 'done', barrier: false })
})

test('keeps a blocking hook’s error while the agent starts, and lets a person recover', async () => {
  const judged = gate({
    role: 'reviewer',
    gate_config: { reject_target: 'queue', requires_human_approval: false },
    hooks: {
      before_enter: [{ plugin: 'run_ci_steps' }],
      on_enter: [{ plugin: 'dispatch_role_agent' }],
      after_enter: [{ plugin: 'probe-1', on_failure: { cascade: 'queue' } }],
      before_exit: [{ plugin: 'probe-0' }],
    },
  })
  const ask = begin(workflow({ name: 'queue', kind: 'initial', to: ['review'] }, judged), 'queue')
  await ask({ kind: 'assign', role: 'reviewer', to: 'reviewer' })
  const seen = await ask({ kind: 'transition', ...byUser, to: 'review' }, { 'probe-0': 'failed', 'probe-1': 'failed' })
  expect(seen).toMatchObject({ state: 'review', execution: 'reviewer', annotation: 'hook_failed' })
  expect(await ask({ kind: 'recover', action: 'retry_hook' })).toMatchObject({ answer: 'ok', state: 'queue' })
})

test('leaves nothing open when an agent cancels its task before its turn', async () => {
  const prepared = { ...works.hooks, before_enter: [{ plugin: 'probe-0' }] }
  const dropped = { name: 'cancelled', kind: 'terminal' } as const
  const ask = begin(
    workflow({ name: 'queue', kind: 'initial', to: ['work'] }, { ...works, name: 'work', hooks: prepared }, dropped),
    'queue',
  )
  expect(await ask({ kind: 'claim', by: 'coder' }, { 'probe-0': 'failed' })).toMatchObject({ execution: 'coder' })
  expect(await ask({ kind: 'cancel', by: 'coder' })).toMatchObject({ state: 'cancelled', execution: null })
})
