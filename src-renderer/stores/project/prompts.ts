import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Prompt } from '../../../src-shared/contract/prompts.ts'
import { useClient } from '../base/client.ts'

/** The prompts of agents, before and after the start. */
export function usePrompts() {
  const client = useClient()
  return {
    /** Returns the prompt that the role's holder would get now. */
    ofTask: (task_id: string, role: string): Promise<Prompt> => client.call('tasks.prompt', { task_id, role }),
    /** Returns the prompt for a task that does not exist yet. */
    ofDraft: (draft: OperationInput<'tasks.draft_prompt'>): Promise<Prompt> => client.call('tasks.draft_prompt', draft),
    ofExecution: (execution_id: string): Promise<Prompt> => client.call('executions.prompt', { execution_id }),
    /** Returns the prompt with an unsaved template; null stands for the built-in one. */
    tryTemplate: (task_id: string, role: string, template: string | null): Promise<Prompt> =>
      client.call('tasks.try_template', { task_id, role, template }),
  }
}
