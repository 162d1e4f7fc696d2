import { pluginTraits } from '../../../../src-main/plugins/create-plugins.ts'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { dryRun } from '../../../../src-main/domain/workflow/dry-run.ts'
import { indexWorkflow } from '../../../../src-main/domain/workflow/graph.ts'
import { WorkflowDefinition } from '../../../../src-shared/contract/workflow-definition.ts'
import { projectRoot } from '../../../helpers/project-root.ts'
import { changed, standard } from '../workflows.ts'
import { roughWorkflow as workflow } from './rough-workflow.ts'

const runWith = (states: Parameters<typeof changed>[0]) => dryRun(indexWorkflow(changed(states), pluginTraits))
const template = (name: string) =>
  indexWorkflow(
    WorkflowDefinition.parse(parse(readFileSync(resolve(projectRoot, `workflows/${name}.yaml`), 'utf8'))),
    pluginTraits,
  )

describe('the default workflow', () => {
  const run = dryRun(standard)

  test('has a straight path to done, and one over blocked', () => {
    expect(run.paths.map(({ name, states, ends_in }) => ({ name, states: states.join(' '), ends_in }))).toEqual([
      {
        name: 'Straight to Done',
        states: 'backlog todo planning in_progress review merging done',
        ends_in: 'done',
      },
      {
        name: 'Block at Planning, then Resume at Blocked, to Done',
        states: 'backlog todo planning blocked in_progress review merging done',
        ends_in: 'done',
      },
    ])
  })

  test('fires its hooks in the order of the phases', () => {
    expect(run.paths[0]?.hooks.map(({ state, phase, action }) => `${state} ${phase} ${action}`)).toEqual([
      'planning before_enter knowledge-inject',
      'planning on_enter dispatch_role_agent',
      'in_progress before_enter knowledge-inject',
      'in_progress on_enter dispatch_role_agent',
      'review before_enter run_ci_steps',
      'review on_enter dispatch_role_agent',
      'merging after_enter run_merge',
      'done on_enter knowledge-capture',
      'done on_enter propagate_done_to_subtasks',
      'done on_enter satisfy_dependents',
    ])
  })

  test('lists each loop once, with the review’s budget where its rejection is in it', () => {
    const loops = Object.fromEntries(run.loops.map(({ states, budget }) => [states.join(' '), budget]))
    expect(Object.keys(loops)).toHaveLength(run.loops.length)
    expect(loops).toMatchObject({
      'backlog todo': null,
      'todo planning': null,
      'in_progress review': 3,
      'merging merge_failed': null,
      'in_progress review merging merge_failed': null,
    })
  })

  test('has no stuck gate', () => {
    expect([run.dead_ends, run.stuck_gates]).toEqual([[], []])
  })
})

test.each(['user-approval-review', 'no-user-approval'])(
  'leads in the template %s to done, without a stuck gate',
  (name) => {
    const run = dryRun(template(name))
    expect(run.paths.map((path) => path.ends_in)).toEqual(['done', 'done'])
    expect([run.dead_ends, run.stuck_gates]).toEqual([[], []])
  },
)

describe('paths', () => {
  test('fire exit hooks before the move, entry hooks after it, and none for the first state', () => {
    const all = (name: string) =>
      Object.fromEntries(
        ['after_enter', 'on_enter', 'before_enter', 'on_exit', 'before_exit'].map((phase) => [
          phase,
          [{ script: `${name} ${phase}` }, { plugin: 'run_merge' }],
        ]),
      )
    const run = dryRun(
      workflow(
        { name: 'a', kind: 'initial', to: ['b'], hooks: all('a') },
        { name: 'b', kind: 'terminal', hooks: all('b') },
      ),
    )
    expect(run.paths[0]?.hooks.map(({ state, phase, action }) => `${state} ${phase} ${action}`)).toEqual([
      'a before_exit script',
      'a before_exit run_merge',
      'a on_exit script',
      'a on_exit run_merge',
      'b before_enter script',
      'b before_enter run_merge',
      'b on_enter script',
      'b on_enter run_merge',
      'b after_enter script',
      'b after_enter run_merge',
    ])
  })

  test('follow rejections and cascades, and say so', () => {
    const run = dryRun(
      workflow(
        { name: 'a', kind: 'initial', to: ['gate'] },
        { name: 'gate', kind: 'gate', to: ['try'], gate_config: { reject_target: 'no' } },
        {
          name: 'try',
          hooks: { after_enter: [{ script: 'x', on_success: { cascade: 'end' }, on_failure: { cascade: 'no' } }] },
        },
        { name: 'no', kind: 'terminal' },
        { name: 'end', kind: 'terminal' },
      ),
    )
    expect(run.paths.map(({ name, ends_in }) => [name, ends_in])).toEqual([
      ['rejected at GATE, to NO', 'no'],
      ['Straight to END', 'end'],
      ['a script fails at TRY, to NO', 'no'],
    ])
  })

  test('leave out cancellation', () => {
    expect(dryRun(standard).paths.flatMap((path) => path.states)).not.toContain('cancelled')
  })

  test('start where new tasks do, not at the state of kind initial', () => {
    expect(new Set(dryRun(standard).paths.map((path) => path.states[0]))).toEqual(new Set(['backlog']))
  })

  test('end in a dead end, which is listed', () => {
    const run = runWith({ blocked: { transitions: [] } })
    expect(run.dead_ends).toEqual(['blocked'])
    expect(run.paths.filter((path) => path.ends_in === 'blocked').map((path) => path.states.at(-2))).toEqual([
      'planning',
      'in_progress',
      'review',
    ])
  })

  test('never leave a terminal state, whatever it declares', () => {
    const run = dryRun(workflow({ name: 'a', kind: 'initial', to: ['b'] }, { name: 'b', kind: 'terminal', to: ['a'] }))
    expect([run.paths.map((path) => path.states), run.loops]).toEqual([[['a', 'b']], []])
  })
})

describe('stuck gates', () => {
  const gate = (more: object, to: readonly object[] = []) =>
    dryRun(
      workflow(
        { name: 'a', kind: 'initial', to: ['gate'] },
        { name: 'gate', kind: 'gate', transitions: to, gate_config: { reject_target: 'a' }, ...more },
        { name: 'end', kind: 'terminal' },
      ),
    )

  test('include a gate without a forward transition, where a path ends', () => {
    const run = gate({})
    expect(run.stuck_gates).toEqual([{ state: 'gate', reason: expect.stringContaining('No forward') as string }])
    expect(run.paths.map((path) => path.ends_in)).toEqual(['gate'])
    // The transition back is still a way out.
    expect([run.dead_ends, run.loops]).toEqual([[], [{ states: ['a', 'gate'], budget: null }]])
  })

  test('include a gate that leads only to itself', () => {
    expect(gate({}, [{ to: 'gate', label: 'Again' }]).stuck_gates).toHaveLength(1)
  })

  test('include a gate that needs a person if only agents may continue, not a person’s gate', () => {
    const gate_config = { requires_human_approval: true }
    expect(gate({ gate_config }, [{ to: 'end', label: 'On', audience: 'agent_only' }]).stuck_gates).toEqual([
      { state: 'gate', reason: expect.stringContaining('only agents can move on to end') as string },
    ])
    expect(gate({ gate_config }, [{ to: 'end', label: 'On', audience: 'user_only' }]).stuck_gates).toEqual([])
    expect(gate({}, [{ to: 'end', label: 'On', audience: 'agent_only' }]).stuck_gates).toEqual([])
  })

  test('exclude a gate whose hook continues after a pass', () => {
    const hooks = { after_enter: [{ plugin: 'auto_cascade_on_review_pass', on_success: { cascade: 'end' } }] }
    const run = gate({ hooks })
    expect([run.stuck_gates, run.paths.map((path) => path.states.join(' '))]).toEqual([[], ['a gate end']])
  })

  test('exclude a gate without a reject target', () => {
    expect(gate({ gate_config: {} }, [{ to: 'end', label: 'On' }]).stuck_gates).toEqual([])
  })
})

describe('loops', () => {
  test('include a state that leads to itself', () => {
    const run = dryRun(workflow({ name: 'a', kind: 'initial', to: ['a', 'b'] }, { name: 'b', kind: 'terminal' }))
    expect(run.loops).toEqual([{ states: ['a'], budget: null }])
  })

  test('have the smallest budget of their rejections', () => {
    const gate = (name: string, to: string, reject_target: string, max_rejections: number) => ({
      name,
      kind: 'gate',
      to: [to],
      gate_config: { reject_target, max_rejections },
    })
    const run = dryRun(
      workflow(
        { name: 'a', kind: 'initial', to: ['one'] },
        gate('one', 'two', 'a', 5),
        gate('two', 'three', 'one', 2),
        gate('three', 'end', 'two', 0),
        { name: 'end', kind: 'terminal' },
      ),
    )
    expect(run.loops).toEqual([
      { states: ['a', 'one'], budget: 5 },
      { states: ['one', 'two'], budget: 2 },
      { states: ['two', 'three'], budget: 0 },
    ])
  })
})
