import { pluginTraits } from '../../../../src-main/plugins/create-plugins.ts'
import { indexWorkflow, type Workflow } from '../../../../src-main/domain/workflow/graph.ts'
import { WorkflowDefinition } from '../../../../src-shared/contract/workflow-definition.ts'

export type RoughState = { readonly name: string; readonly kind?: string; readonly to?: readonly string[] } & Record<
  string,
  unknown
>

/** Builds a workflow from state names and their targets, with further fields per state. */
export function roughWorkflow(...states: readonly RoughState[]): Workflow {
  return indexWorkflow(
    WorkflowDefinition.parse({
      states: states.map(({ name, kind = 'custom', to = [], ...more }) => ({
        name,
        kind,
        column: 'A',
        label: name.toUpperCase(),
        transitions: to.map((target) => ({ to: target, label: `go ${target}` })),
        ...more,
      })),
    }),
    pluginTraits,
  )
}
