import type { OperationInput } from '../../../src-shared/contract/operations.ts'
import type { Prompt } from '../../../src-shared/contract/prompts.ts'
import { useClient } from '../base/client.ts'

/** What agents are told, before they start and afterwards. */
export function usePrompts() {
  const client = useClient()
  return {
    /** The prompt that the role's holder would get now. */
    ofTask: (task_id: string, role: string): Promise<Prompt> => client.call('tasks.prompt', { task_id, role }),
    /** What would be told of a task that is not there yet. */
    ofDraft: (draft: OperationInput<'tasks.draft_prompt'>): Promise<Prompt> => client.call('tasks.draft_prompt', draft),
    ofExecution: (execution_id: string): Promise<Prompt> => client.call('executions.prompt', { execution_id }),
    /** The same with a template that is not kept; null for the built-in one. */
    tryTemplate: (task_id: string, role: string, template: string | null): Promise<Prompt> =>
      client.call('tasks.try_template', { task_id, role, template }),
  }
}
