import { clientTraits, indexWorkflow } from '../../src-main/domain/workflow/graph.ts'
import { pluginTraits } from '../../src-main/plugins/create-plugins.ts'
import type { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'

/** A workflow as the service sends it. */
export const withTraits = (definition: WorkflowDefinition): WorkflowDefinition => ({
  ...definition,
  traits: clientTraits(indexWorkflow(definition, pluginTraits)),
})
