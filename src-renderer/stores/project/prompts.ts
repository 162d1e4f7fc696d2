import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Prompt } from '../../../src-shared/contract/prompts.ts'
import { useClient } from '../base/client.ts'

/** The prompts of agents, before and after the start. */
export function usePrompts() {
  const client = useClient()
  return {
    /** Returns the prompt that the role's holder would get now. */
    ofTask: (taskId: string, role: string): Promise<Prompt> => client.call('tasks.prompt', { task_id: taskId, role }),
    /** Returns the prompt for a task that does not exist yet. */
    ofDraft: (draft: OperationInput<'tasks.draft_prompt'>): Promise<Prompt> => client.call('tasks.draft_prompt', draft),
    ofExecution: (executionId: string): Promise<Prompt> =>
      client.call('executions.prompt', { execution_id: executionId }),
    /** Returns the prompt with an unsaved template; null stands for the built-in one. */
    tryTemplate: (taskId: string, role: string, template: string | null): Promise<Prompt> =>
      client.call('tasks.try_template', { task_id: taskId, role, template }),
  }
}
