import { ApiError, type Refusal } from '../../../src-shared/contract/errors.ts'
import type { Dependency } from '../../../src-shared/contract/tasks.ts'
import { crossProjectDependency, cycleThrough } from '../../tasks/rules/dependency-cycle.ts'
import { isDone } from '../../domain/workflow/graph.ts'
import type { Tx } from '../../core/event-feed.ts'
import type { Queries } from '../../ports/store.ts'
import type { TaskRecord } from '../../ports/task-queries.ts'
import type { ApiParts, Handlers } from '../context.ts'
import { findProject, findTask, throwNotFound } from '../find.ts'
import { cycleRefusal, waitingPairs } from '../stack-input.ts'

type Names = 'tasks.dependencies' | 'tasks.add_dependency' | 'tasks.remove_dependency'

export function createDependencyHandlers(parts: ApiParts): Handlers<Names> {
  const { store, feed, engine } = parts
  const { read } = store
  return {
    'tasks.dependencies': ({ task_id }) => ({
      items: read.dependencies.of(task_id).map((id) => dependencyOf(parts, read, findTask(read, id))),
    }),
    // The check for a cycle and the write share a transaction, so that two requests can't close one together.
    'tasks.add_dependency': ({ task_id, depends_on_id }) =>
      feed.commit((tx) => {
        const task = findTask(tx, task_id)
        const other = findTask(tx, depends_on_id)
        const refusal = checkNew(tx, task, other)
        if (refusal) throw new ApiError(refusal)
        if (!tx.dependencies.of(task_id).includes(depends_on_id)) {
          tx.dependencies.add(task_id, depends_on_id)
          bumpVersion(tx, task)
        }
        return dependencyOf(parts, tx, other)
      }),
    'tasks.remove_dependency': ({ task_id, depends_on_id }) => {
      feed.commit((tx) => {
        const task = findTask(tx, task_id)
        const isGone = task.error_annotation?.dependencies?.includes(depends_on_id) === true
        if (!isGone && !tx.dependencies.of(task_id).includes(depends_on_id)) throwNotFound('dependency')
        tx.dependencies.remove(task_id, depends_on_id)
        const left = engine.readyStarts.withoutDependency(task, depends_on_id)
        if (left === task) bumpVersion(tx, task)
        else tx.saveTask(left)
      })
      engine.readyStarts.look()
      return null
    },
  }
}

function checkNew(q: Queries, task: TaskRecord, other: TaskRecord): Refusal | null {
  if (task.project_id !== other.project_id) return crossProjectDependency(task.project_id)
  const pair = { task_id: task.id, depends_on_id: other.id }
  const own = task.stacked_on === null ? [] : [{ task_id: task.id, depends_on_id: task.stacked_on }]
  const path = cycleThrough(pair, [...waitingPairs(q, task), ...own])
  return path && cycleRefusal(q, path)
}

function dependencyOf(parts: ApiParts, q: Queries, task: TaskRecord): Dependency {
  const { id, title, status, project_id } = task
  const workflow = parts.workflows.of(findProject(q, project_id).workflow_definition)
  return { id, title, status, satisfied: isDone(workflow, status) }
}

/** Saves the task, because clients see its dependencies as part of it. */
const bumpVersion = (tx: Tx, task: TaskRecord) => tx.saveTask({ ...task, version: task.version + 1 })
