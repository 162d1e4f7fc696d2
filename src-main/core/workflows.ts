import { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { indexWorkflow, type PluginTraits, type Workflow } from '../domain/workflow/graph.ts'

export interface Workflows {
  /** Returns the workflow of a project's `workflow_definition`; an empty text and `{}` are the built-in default. */
  of(workflow_definition: string): Workflow
  /** Indexes a definition that no project has yet. */
  index(definition: WorkflowDefinition): Workflow
}

/** Projects rarely change their workflow and tasks read it all the time, so parsed workflows are cached. */
export function createWorkflows(builtin: WorkflowDefinition, plugins: PluginTraits): Workflows {
  const index = (definition: WorkflowDefinition) => indexWorkflow(definition, plugins)
  const standard = index(builtin)
  const parsed = new Map<string, Workflow>()
  return {
    index,
    of: (text) => {
      if (isDefault(text)) return standard
      let workflow = parsed.get(text)
      if (!workflow) {
        workflow = index(WorkflowDefinition.parse(JSON.parse(text)))
        if (parsed.size >= 100) parsed.clear()
        parsed.set(text, workflow)
      }
      return workflow
    },
  }
}

/** Returns whether a project uses the built-in default. */
export function isDefault(text: string): boolean {
  const bare = text.trim()
  return bare === '' || bare === '{}'
}
