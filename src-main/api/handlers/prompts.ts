import { ApiError, type Refusal } from '../../../src-shared/contract/errors.ts'
import type { OperationRequest } from '../../../src-shared/contract/operations.ts'
import type { Prompt } from '../../../src-shared/contract/prompts.ts'
import type { Principal } from '../../domain/access/principal.ts'
import { crossProjectDependency } from '../../tasks/rules/dependency-cycle.ts'
import type { ProjectRecord } from '../../ports/project-queries.ts'
import type { TaskRecord } from '../../ports/task-queries.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { checkRoles } from '../assignee.ts'
import { draftTask, withDefaults } from '../new-task.ts'
import { findExecution, findProject, findTask, unwrap } from '../find.ts'

type Names = 'tasks.prompt' | 'tasks.try_template' | 'tasks.draft_prompt' | 'executions.prompt'

/** Handlers for prompts, before and after a run starts. */
export function createPromptHandlers(parts: ApiParts): Handlers<Names> {
  const { read } = parts.store
  const { prompts } = parts.engine
  return {
    'tasks.prompt': async ({ task_id, role }, { signal }) =>
      promptOrThrow(await prompts.preview({ task: findTask(read, task_id), role: role ?? null }, signal)),
    'tasks.try_template': async ({ task_id, role, template }, { signal }) =>
      promptOrThrow(await prompts.preview({ task: findTask(read, task_id), role: role ?? null, template }, signal)),
    'tasks.draft_prompt': async ({ project_id, role, ...request }, { principal, signal }) => {
      const { dependencies, task } = draftOf(parts, principal, findProject(read, project_id), request)
      return promptOrThrow(await prompts.preview({ task, role: role ?? null, draft: { dependencies } }, signal))
    },
    'executions.prompt': ({ execution_id }) => prompts.of(findExecution(read, execution_id)),
  }
}

type DraftRequest = Omit<OperationRequest<'tasks.draft_prompt'>, 'project_id' | 'role'>

/** Throws if the draft could not become a task. */
function draftOf(
  parts: ApiParts,
  principal: Principal,
  project: ProjectRecord,
  { roles = {}, dependencies = [], ...fields }: DraftRequest,
) {
  checkRoles(parts, principal, project, roles)
  for (const id of dependencies) {
    if (findTask(parts.store.read, id).project_id !== project.id) unwrap(crossProjectDependency(project.id))
  }
  const task: TaskRecord = { ...draftTask(parts, project, withDefaults(parts, principal, project, fields)), roles }
  return { task, dependencies: [...new Set(dependencies)].toSorted() }
}

function promptOrThrow(answer: Prompt | Refusal): Prompt {
  if ('code' in answer) throw new ApiError(answer)
  return answer
}
