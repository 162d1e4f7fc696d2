import { ApiError } from '../../src-shared/contract/errors.ts'
import { TaskId } from '../../src-shared/contract/ids.ts'
import type { OperationRequest } from '../../src-shared/contract/operations.ts'
import type { Task } from '../../src-shared/contract/tasks.ts'
import type { Tx } from '../core/event-feed.ts'
import type { Principal } from '../domain/access/principal.ts'
import { invalidInput } from '../domain/refusal.ts'
import { crossProjectDependency, cycleThrough, type DependencyPair } from '../tasks/rules/dependency-cycle.ts'
import type { ProjectRecord } from '../ports/project-queries.ts'
import type { TaskRecord } from '../ports/task-queries.ts'
import type { ApiParts } from './context.ts'
import { findTask } from './find.ts'
import { announce, bindAttachments, makeTask, withDefaults } from './new-task.ts'
import { checkOrderedParent, checkSetByPerson } from './run-task.ts'
import { cycleRefusal } from './stack-input.ts'

type Item = OperationRequest<'tasks.create_many'>['items'][number]

/** Saves many tasks in one transaction, each as if it were created alone, in their order. */
export function newTasks(
  parts: ApiParts,
  project: ProjectRecord,
  items: readonly Item[],
  principal: Principal,
): Task[] {
  return parts.feed.commit((tx) => {
    const number = tx.tasks.nextNumber(project.id, items.length)
    const position = tx.tasks.lastPosition(project.id) + 1
    const tasks = items.map(({ key: _key, depends_on: _dependsOn, ...fields }, index) =>
      ofItem(items, index, () => {
        checkSetByPerson(principal, fields)
        checkOrderedParent(tx, principal, fields)
        const place = { number: number + index, position: position + index }
        return makeTask(parts, tx, project, { ...withDefaults(parts, principal, project, fields), ...place })
      }),
    )
    tx.tasks.addMany(tasks)
    for (const [index, task] of tasks.entries()) ofItem(items, index, () => bindAttachments(parts, tx, task))
    addDependencies(tx, items, tasks)
    return tasks.map((task) => announce(parts, tx, task))
  })
}

function addDependencies(tx: Tx, items: readonly Item[], tasks: readonly TaskRecord[]): void {
  const places = placesOf(items)
  const pairs: DependencyPair[] = []
  const towardsLater: (DependencyPair & { readonly index: number })[] = []
  for (const [index, task] of tasks.entries()) {
    for (const name of items[index]?.depends_on ?? []) {
      const place = places.get(name)
      const other = place === undefined ? undefined : tasks[place]
      const depends_on_id = other?.id ?? ofItem(items, index, () => existing(tx, task, name))
      const pair = { task_id: task.id, depends_on_id }
      pairs.push(pair)
      if (place !== undefined && place >= index) towardsLater.push({ ...pair, index })
      tx.dependencies.add(task.id, depends_on_id)
    }
  }
  // No task that was there waits for one of these, and a cycle among these has one that waits for a later one.
  for (const { index, ...pair } of towardsLater) {
    const path = cycleThrough(pair, pairs)
    if (path) ofItem(items, index, () => refuse(new ApiError(cycleRefusal(tx, path))))
  }
}

function placesOf(items: readonly Item[]): ReadonlyMap<string, number> {
  const places = new Map<string, number>()
  for (const [index, { key }] of items.entries()) {
    if (key === undefined) continue
    if (places.has(key)) ofItem(items, index, () => refuse(invalid('key', `Another task has the key “${key}”.`)))
    places.set(key, index)
  }
  return places
}

function existing(tx: Tx, task: TaskRecord, name: string): TaskId {
  const id = TaskId.safeParse(name)
  if (!id.success) throw invalid('depends_on', `No task of this request has the key “${name}”.`)
  const other = findTask(tx, id.data)
  if (other.project_id !== task.project_id) throw new ApiError(crossProjectDependency(task.project_id))
  return other.id
}

/** Says in a refusal which of the tasks it is about. */
function ofItem<T>(items: readonly Item[], index: number, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { code, message, details } = error
    const issues = details?.['issues'] as readonly { readonly path: string; readonly message: string }[] | undefined
    throw new ApiError({
      code,
      message: `Task ${index + 1}, “${items[index]?.title ?? ''}”: ${message}`,
      details: {
        ...details,
        ...(issues && { issues: issues.map((one) => ({ ...one, path: `items.${index}.${one.path}` })) }),
        index,
      },
    })
  }
}

function refuse(error: ApiError): never {
  throw error
}

const invalid = (path: string, message: string) => new ApiError(invalidInput(path, message))
