import { WorkflowDefinition } from '../../src-shared/contract/workflow-definition.ts'
import { indexWorkflow, type PluginTraits, type Workflow } from '../domain/workflow/graph.ts'

export interface Workflows {
  /** The workflow that a project's `workflow_definition` stands for; empty and `{}` are the built-in default. */
  of(workflow_definition: string): Workflow
  /** One that no project has yet. */
  index(definition: WorkflowDefinition): Workflow
}

/** Projects change their workflow rarely and tasks ask for it all the time, so what was parsed is kept. */
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

/** Whether a project follows the built-in default. */
export function isDefault(text: string): boolean {
  const bare = text.trim()
  return bare === '' || bare === '{}'
}
