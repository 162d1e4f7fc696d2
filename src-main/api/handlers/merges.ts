import { actorOf, type Principal } from '../../domain/access/principal.ts'
import type { UpdateBranchRequest } from '../../tasks/update-branch.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { unwrap, findTask, throwNotFound } from '../find.ts'

type Names = 'tasks.conflicts' | 'tasks.update_branch'

/** Handlers for conflicts of a task's branch with its base, and for updating it. */
export function createMergeHandlers({ store, engine }: ApiParts): Handlers<Names> {
  const { read } = store
  const { branches, views } = engine
  return {
    'tasks.conflicts': async ({ task_id }, { signal }) =>
      (await branches.conflicts(findTask(read, task_id), signal)) ?? throwNotFound('workspace'),
    'tasks.update_branch': async ({ task_id, strategy, on_conflict, base_branch = null }, { principal, signal }) => {
      const by = personOf(principal)
      const request = { task_id, strategy, on_conflict, base_branch, by, triggered_by: actorOf(principal) }
      const { head, base, execution_id, files, hunks, ...updated } = unwrap(await branches.update(request, signal))
      engine.stacks.look()
      const execution = execution_id === null ? null : read.executions.get(execution_id)
      return {
        ...updated,
        head_commit: head,
        base_commit: base,
        files: [...files],
        hunks: [...hunks],
        task: views.task(findTask(read, task_id)),
        execution: execution && views.execution(execution),
      }
    },
  }
}

function personOf(principal: Principal): UpdateBranchRequest['by'] {
  return principal.kind === 'user' ? { type: 'user', id: principal.user_id } : { type: 'operator' }
}
