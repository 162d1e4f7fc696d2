import { pluginTraits } from '../../../src-main/plugins/create-plugins.ts'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import fc from 'fast-check'
import { parse } from 'yaml'
import { indexWorkflow, type Workflow } from '../../../src-main/domain/workflow/graph.ts'
import type { PluginChecks } from '../../../src-main/domain/workflow/validate.ts'
import { hookPhases, WorkflowDefinition, type WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'
import { projectRoot } from '../../helpers/project-root.ts'

/** The built-in default workflow as shipped. */
export const standardDefinition: WorkflowDefinition = WorkflowDefinition.parse(
  parse(readFileSync(resolve(projectRoot, 'workflows/default.yaml'), 'utf8')),
)
export const standard: Workflow = indexWorkflow(standardDefinition, pluginTraits)

/** The default workflow with some states changed. */
export function changed(states: Readonly<Record<string, Partial<WorkflowState>>>): WorkflowDefinition {
  return {
    ...standardDefinition,
    states: standardDefinition.states.map((state) => ({ ...state, ...states[state.name] })),
  }
}

const pluginNames = [
  'check_retry_budget',
  'knowledge-inject',
  'knowledge-capture',
  'dispatch_role_agent',
  'run_ci_steps',
  'run_merge',
  'auto_cascade_on_review_pass',
  'cancel_pending_subtasks',
  'propagate_done_to_subtasks',
  'satisfy_dependents',
  'cleanup_workspace_now',
  'schedule_workspace_cleanup',
  'publish_task_blocked',
  'open_pull_request',
  'await_pull_request',
]

/** Every built-in plugin; the only known option, `seconds`, has to be a number. */
export const plugins: PluginChecks = new Map(
  pluginNames.map((name) => [
    name,
    (config: unknown) => {
      const { seconds = 0 } = config as { readonly seconds?: unknown }
      return typeof seconds === 'number' ? null : 'seconds: Give a number.'
    },
  ]),
)

const names = ['one', 'two', 'three', 'four', 'five', 'six', 'end']

const hook = fc.oneof(
  fc.constantFrom(...pluginNames).map((plugin) => ({ plugin })),
  fc.constant({ script: 'true' }),
  fc.constantFrom(...names).map((cascade) => ({ script: 'true', on_success: { cascade } })),
)

const state = (name: string) =>
  fc.record(
    {
      name: fc.constant(name),
      kind: fc.constantFrom('backlog' as const, 'active' as const, 'gate' as const, 'custom' as const),
      role: fc.constantFrom('coder', 'reviewer'),
      column: fc.constant('Column'),
      label: fc.constant(name),
      transitions: fc
        .uniqueArray(fc.constantFrom(...names), { maxLength: 4 })
        .map((targets) => targets.map((to) => ({ to, label: to, audience: 'all' as const }))),
      hooks: fc.dictionary(fc.constantFrom(...hookPhases), fc.array(hook, { maxLength: 3 })),
    },
    { requiredKeys: ['name', 'kind', 'column', 'label', 'transitions'] },
  )

/** A random workflow of seven states: the second is the queue, the last is terminal. */
export const anyDefinition: fc.Arbitrary<WorkflowDefinition> = fc.tuple(...names.map(state)).map((states) => ({
  roles: [
    { name: 'coder', label: 'Coder' },
    { name: 'reviewer', label: 'Reviewer' },
  ],
  states: states.map((one, index) => {
    const kind = index === 1 ? 'initial' : index === names.length - 1 ? 'terminal' : one.kind
    return { ...one, kind } as WorkflowState
  }),
}))

/** A random workflow with a path through all states, which breaks no rule. */
export const anyValidDefinition: fc.Arbitrary<WorkflowDefinition> = anyDefinition.map((definition) => ({
  ...definition,
  states: definition.states.map((one, index) => {
    // The first state lies before the queue, where the walk starts.
    const to = names[index + 1] ?? ''
    const on = [to, ...(index === names.length - 2 ? ['one'] : [])].filter((name) => name !== '')
    return {
      ...one,
      transitions: [...one.transitions, ...on.map((name) => ({ to: name, label: name, audience: 'all' as const }))],
    }
  }),
}))

export { names as anyNames }
