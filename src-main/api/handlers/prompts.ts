import { ApiError, type Refusal } from '../../../src-shared/contract/errors.ts'
import type { Prompt } from '../../../src-shared/contract/prompts.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findExecution, findTask } from '../find.ts'

type Names = 'tasks.prompt' | 'tasks.try_template' | 'executions.prompt'

/** What agents are told, before they start and afterwards. */
export function createPromptHandlers({ store, engine }: ApiParts): Handlers<Names> {
  const { read } = store
  const { prompts } = engine
  return {
    'tasks.prompt': async ({ task_id, role }, { signal }) =>
      told(await prompts.preview({ task: findTask(read, task_id), role: role ?? null }, signal)),
    'tasks.try_template': async ({ task_id, role, template }, { signal }) =>
      told(await prompts.preview({ task: findTask(read, task_id), role: role ?? null, template }, signal)),
    'executions.prompt': ({ execution_id }) => prompts.of(findExecution(read, execution_id)),
  }
}

function told(answer: Prompt | Refusal): Prompt {
  if ('code' in answer) throw new ApiError(answer)
  return answer
}
