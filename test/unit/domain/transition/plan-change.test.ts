import { pluginTraits } from '../../../../src-main/plugins/create-plugins.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stepsBefore, stepsOf } from '../../../../src-main/domain/transition/phases.ts'
import { indexWorkflow } from '../../../../src-main/domain/workflow/graph.ts'
import { planChange, type ChangeFacts, type PendingEffect } from '../../../../src-main/domain/transition/plan-change.ts'
import { validateWorkflow } from '../../../../src-main/domain/workflow/validate.ts'
import type { TaskId, TransitionId } from '../../../../src-shared/contract/ids.ts'
import type { WorkflowDefinition, WorkflowState } from '../../../../src-shared/contract/workflow-definition.ts'
import { anyNames, anyValidDefinition, changed, plugins, standard, standardDefinition } from '../workflows.ts'

const task = (id: string) => id as TaskId
const entering = (from: string, to: string, more: Partial<PendingEffect['data']> = {}): PendingEffect => ({
  id: 1,
  task_id: task('t'),
  data: {
    kind: 'enter',
    transition_id: 'tr' as TransitionId,
    from,
    to,
    triggered_by: 'system',
    cursor: 0,
    depth: 0,
    cascade_skipped: false,
    ...more,
  } as PendingEffect['data'],
})
const leaving = (from: string, to: string): PendingEffect => ({
  id: 2,
  task_id: task('t'),
  data: {
    kind: 'leave',
    cause: 'forward',
    reason: null,
    outcomes: [],
    annotation: null,
    from,
    to,
    triggered_by: 'system',
    cursor: 0,
    depth: 0,
  },
})

const plan = (next: WorkflowDefinition, more: Partial<ChangeFacts> = {}) =>
  planChange({ old: standard, next, occupied: new Set(), pending: [], ...more })
const change = (next: WorkflowDefinition, more: Partial<ChangeFacts> = {}) => {
  const planned = plan(next, more)
  if (planned.kind !== 'change') throw new Error(JSON.stringify(planned))
  return planned
}

/** The default workflow with some states renamed everywhere. */
function renaming(names: Readonly<Record<string, string>>, saysSo = true): WorkflowDefinition {
  const text = JSON.stringify(standardDefinition)
  const renamed = JSON.parse(text, (key: string, value: unknown) =>
    ['name', 'to', 'cascade', 'reject_target', 'initial_state', 'cancellation_state'].includes(key)
      ? (names[value as string] ?? value)
      : value,
  ) as WorkflowDefinition
  const old = new Map(Object.entries(names).map(([from, to]) => [to, from]))
  if (!saysSo) return renamed
  return {
    ...renamed,
    states: renamed.states.map((state) => {
      const renamed_from = old.get(state.name)
      return renamed_from === undefined ? state : { ...state, renamed_from }
    }),
  }
}

/** The default workflow without a state and the transitions to it. */
function without(...gone: string[]): WorkflowDefinition {
  const keep = (state: WorkflowState) => ({
    ...state,
    transitions: state.transitions.filter(({ to }) => !gone.includes(to)),
  })
  return {
    ...standardDefinition,
    states: standardDefinition.states.filter(({ name }) => !gone.includes(name)).map(keep),
  }
}

describe('renaming', () => {
  test('carries a renaming over to tasks and does not store it', () => {
    const planned = change(renaming({ review: 'checking' }))
    expect(planned.names).toEqual(new Map([['review', 'checking']]))
    expect(planned.definition).toEqual(renaming({ review: 'checking' }, false))
  })

  test('lets states swap names or pass them on in a chain', () => {
    expect(change(renaming({ review: 'planning', planning: 'review' })).names).toEqual(
      new Map([
        ['planning', 'review'],
        ['review', 'planning'],
      ]),
    )
    const round = { planning: 'in_progress', in_progress: 'review', review: 'planning' }
    expect(change(renaming(round)).names).toEqual(new Map(Object.entries(round)))
    const chain = { review: 'checking', in_progress: 'review' }
    expect(Object.fromEntries(change(renaming(chain)).names)).toEqual(chain)
  })

  test('ignores a renaming to the same name', () => {
    expect(change(changed({ review: { renamed_from: 'review' } }))).toMatchObject({
      names: new Map(),
      definition: standardDefinition,
    })
  })

  test('refuses a renaming from an unknown state', () => {
    expect(plan(changed({ review: { renamed_from: 'checking' } }))).toMatchObject({
      kind: 'invalid',
      issues: [
        { rule: 'schema', path: 'states.4.renamed_from', message: expect.stringContaining('checking') as string },
      ],
    })
  })

  test('refuses two renamings from one state', () => {
    const next = changed({ merging: { renamed_from: 'review' }, review: { renamed_from: 'review' } })
    expect(plan(next)).toMatchObject({ kind: 'invalid', issues: [{ rule: 'schema', path: 'states.5.renamed_from' }] })
  })

  test('lets a new state take the old name while tasks follow the renaming', () => {
    const next = renaming({ review: 'checking' })
    const fresh: WorkflowState = { name: 'review', kind: 'custom', column: 'X', label: 'New', transitions: [] }
    expect(change({ ...next, states: [...next.states, fresh] }, { occupied: new Set(['review']) }).names).toEqual(
      new Map([['review', 'checking']]),
    )
  })
})

describe('removing', () => {
  test('allows to remove an empty state and to add states', () => {
    expect(change(without('blocked'), { occupied: new Set(['backlog', 'review']) }).names).toEqual(new Map())
  })

  test('refuses with states_in_use a state that has tasks', () => {
    expect(plan(without('blocked'), { occupied: new Set(['blocked', 'todo']) })).toEqual({
      kind: 'states_in_use',
      states: ['blocked'],
    })
  })

  test('treats a state whose name another one takes as removed', () => {
    const next = {
      ...without('blocked'),
      states: without('blocked').states.map((state) =>
        state.name === 'merge_failed' ? { ...state, name: 'blocked', renamed_from: 'merge_failed' } : state,
      ),
    }
    expect(plan(next, { occupied: new Set(['blocked']) })).toMatchObject({ kind: 'states_in_use' })
    // Archived tasks of the removed state must not appear in the other one.
    expect(change(next).strayed).toEqual(new Map([['blocked', 'backlog']]))
  })

  test('lets a state come back that the present workflow lacks too', () => {
    const old = indexWorkflow(without('blocked'), pluginTraits)
    expect(plan(without('blocked'), { old, occupied: new Set(['blocked']) })).toMatchObject({ kind: 'states_in_use' })
    expect(change(standardDefinition, { old, occupied: new Set(['blocked']) }).names).toEqual(new Map())
  })
})

describe('what is pending', () => {
  test('refuses with transition_in_use a transition that a task makes', () => {
    const next = changed({ in_progress: { transitions: [{ to: 'review', label: 'Submit', audience: 'all' }] } })
    const pending = [entering('in_progress', 'blocked')]
    expect(plan(next, { pending })).toEqual({ kind: 'transition_in_use', used: pending })
    expect(plan(next, { pending: [entering('in_progress', 'review')] }).kind).toBe('change')
  })

  test('refuses a transition that its source must still allow', () => {
    const next = changed({ in_progress: { transitions: [{ to: 'review', label: 'Submit', audience: 'all' }] } })
    expect(plan(next, { pending: [leaving('in_progress', 'blocked')] }).kind).toBe('transition_in_use')
    expect(plan(without('blocked'), { pending: [leaving('in_progress', 'blocked')] }).kind).toBe('transition_in_use')
  })

  test('refuses a state to which pending steps lead', () => {
    const next = changed({
      merging: { hooks: {}, transitions: [{ to: 'done', label: 'Done', audience: 'all' }] },
    })
    const states = next.states.filter((state) => state.name !== 'merge_failed')
    expect(plan({ ...next, states }, { pending: [entering('review', 'merging')] }).kind).toBe('transition_in_use')
    expect(plan({ ...next, states }, { pending: [entering('in_progress', 'review')] }).kind).toBe('change')
  })

  test('needs no declared transition for a claim or a cancellation', () => {
    const next = changed({ todo: { transitions: [{ to: 'planning', label: 'Plan', audience: 'all' }] } })
    const pending = [entering('todo', 'in_progress'), entering('in_progress', 'cancelled')]
    expect(plan(next, { pending }).kind).toBe('change')
  })

  test('keeps the pending steps, under the new names', () => {
    const next = renaming({ review: 'checking', done: 'finished', merge_failed: 'stuck' })
    const bare = { ...next, states: next.states.map(({ hooks: _hooks, ...state }) => state) }
    const pending = [entering('review', 'merging', { cursor: 0 }), leaving('in_progress', 'review')]
    const [merge, leave] = change(bare, { pending }).pending
    expect(merge?.data).toEqual({
      ...pending[0]?.data,
      from: 'checking',
      steps: [
        {
          kind: 'hook',
          phase: 'after_enter',
          hook: { plugin: 'run_merge', on_success: { cascade: 'finished' }, on_failure: { cascade: 'stuck' } },
        },
      ],
    })
    expect(leave?.data).toEqual({ ...pending[1]?.data, to: 'checking', steps: stepsBefore(standard, 'in_progress') })
  })

  test('keeps them through a second change', () => {
    const bare = { ...standardDefinition, states: standardDefinition.states.map(({ hooks: _h, ...state }) => state) }
    const first = change(bare, { pending: [entering('in_progress', 'review')] })
    const second = change(renaming({ review: 'checking' }), {
      old: indexWorkflow(bare, pluginTraits),
      pending: first.pending,
    })
    expect(second.pending[0]?.data.steps).toEqual(stepsOf(standard, 'in_progress', 'review'))
    expect(second.pending[0]?.data.to).toBe('checking')
  })
})

/** Random tasks and a random change of a random workflow, with renamed, removed and added states. */
const anyChange = fc.record({
  old: anyValidDefinition,
  next: anyValidDefinition,
  renames: fc.uniqueArray(fc.tuple(fc.constantFrom(...anyNames), fc.constantFrom(...anyNames, 'new', 'other')), {
    maxLength: 4,
    selector: ([from]) => from,
  }),
  tasks: fc.array(
    fc.record({
      status: fc.constantFrom(...anyNames),
      archived: fc.boolean(),
      pending: fc.option(fc.tuple(fc.constantFrom(...anyNames), fc.boolean()), { nil: null }),
    }),
    { maxLength: 6 },
  ),
})

test('leaves no task in a missing state, whatever the change', () => {
  let changes = 0
  fc.assert(
    fc.property(anyChange, ({ old: before, next: after, renames, tasks }) => {
      const by = new Map(renames.map(([from, name]) => [name, from]))
      const states = after.states.map((state) => {
        const renamed_from = by.get(state.name)
        return renamed_from === undefined ? state : { ...state, renamed_from }
      })
      const next = { ...after, states }
      fc.pre(validateWorkflow(next, plugins).length === 0)
      const old = indexWorkflow(before, pluginTraits)
      const pending = tasks.flatMap(({ status, pending: move }, id): PendingEffect[] => {
        if (!move) return []
        const [other, isLeaving] = move
        const effect = isLeaving ? leaving(status, other) : entering(other, status)
        return [{ ...effect, id, task_id: task(String(id)) }]
      })
      const occupied = new Set(tasks.filter((one) => !one.archived).map((one) => one.status))
      const planned = planChange({ old, next, occupied, pending })
      if (planned.kind !== 'change') return
      changes += 1
      const known = new Set(planned.definition.states.map((state) => state.name))
      const entry = indexWorkflow(planned.definition, pluginTraits).entry.name
      expect(planned.definition.states.some((state) => 'renamed_from' in state)).toBe(false)
      for (const one of tasks) {
        const status = planned.names.get(one.status) ?? planned.strayed.get(one.status) ?? one.status
        const heir =
          states.find((state) => state.renamed_from === one.status) ??
          states.find((state) => state.name === one.status && state.renamed_from === undefined)
        if (heir) expect(status).toBe(heir.name)
        else expect([one.archived, known.has(status) ? status : entry]).toEqual([true, entry])
      }
      for (const { id, data } of planned.pending) {
        expect(known).toContain(data.to)
        const begun = pending.find((effect) => effect.id === id)
        const steps = data.steps ?? []
        const was =
          begun &&
          (begun.data.kind === 'leave'
            ? stepsBefore(old, begun.data.from)
            : stepsOf(old, begun.data.from, begun.data.to))
        expect(steps.map((step) => step.kind)).toEqual(was?.map((step) => step.kind))
        for (const step of steps) {
          if (step.kind === 'hook' && step.hook.on_success) expect(known).toContain(step.hook.on_success.cascade)
        }
      }
    }),
    { numRuns: 2_000 },
  )
  expect(changes).toBeGreaterThan(200)
})
