import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { newTaskDefaults } from '../../../src-main/tasks/rules/create-task.ts'
import { openDatabase, type OpenDatabase } from '../../../src-main/store/database.ts'
import { createStore } from '../../../src-main/store/create-store.ts'
import type { Store } from '../../../src-main/ports/store.ts'
import type { TaskFilter } from '../../../src-main/ports/task-lists.ts'
import type { TaskRecord } from '../../../src-main/ports/task-queries.ts'
import type { ProjectId, RepoId, TaskId } from '../../../src-shared/contract/ids.ts'
import { v7 } from 'uuid'
import { projectRoot } from '../../helpers/project-root.ts'

export const migrations = resolve(projectRoot, 'src-main/store/migrations')
export const at = '2026-11-21T09:30:00.000Z'

/** A temporary folder; `await using` removes it. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'copse-store-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

export interface OpenStore extends AsyncDisposable {
  readonly file: string
  readonly database: OpenDatabase
  readonly store: Store
  readonly project_id: ProjectId
  /** Saves a task with these fields. */
  task(more?: Partial<TaskRecord>): TaskRecord
  /** The titles of a list. */
  titles(filter?: Partial<TaskFilter>): string[]
}

/** A new database with one project. */
export async function openStore(): Promise<OpenStore> {
  const folder = await temporaryFolder()
  const file = join(folder.path, 'copse.db')
  const database = await openDatabase(file, migrations)
  const store = createStore(database)
  const project_id = v7() as ProjectId
  store.write((q) => {
    q.projects.put({
      id: project_id,
      name: 'P',
      key: 'PRJ',
      owner_id: null,
      paused_at: null,
      workflow_definition: '',
      settings: {},
      created_at: at,
      updated_at: at,
    })
  })
  let position = 0
  return {
    file,
    database,
    store,
    project_id,
    task: (more = {}) => {
      position += 1
      return store.write((q) => {
        const number = q.tasks.nextNumber(more.project_id ?? project_id)
        const task: TaskRecord = { ...emptyTask(project_id), number, position, title: `Task ${position}`, ...more }
        q.tasks.put(task)
        return task
      })
    },
    titles: (filter = {}) => store.read.tasks.list({ ...anyTask(project_id), ...filter }).map((task) => task.title),
    [Symbol.asyncDispose]: async () => {
      store.close()
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** Adds another project. */
export function anotherProject(open: OpenStore): ProjectId {
  const id = v7() as ProjectId
  const own = open.store.read.projects.get(open.project_id)
  if (!own) throw new Error('The project is gone.')
  open.store.write((q) => q.projects.put({ ...own, id, key: q.projects.freeKey(own.name) }))
  return id
}

/** Deletes a project with all its rows. */
export function deleteProject({ store }: OpenStore, id: ProjectId): void {
  store.write((q) => {
    q.projects.markDeleted(id, { delete_branches: false })
    while (q.projects.deleteRows(id, q.tasks.someIds(id, 100), 100));
  })
}

function emptyTask(project_id: ProjectId): TaskRecord {
  return {
    id: v7() as TaskId,
    project_id,
    number: 0,
    repo_id: v7() as RepoId,
    title: '',
    status: 'backlog',
    ...newTaskDefaults,
    review_config: { ci_steps: [], review_prompt: null },
    roles: {},
    labels: [],
    priority: 0,
    position: 0,
    created_at: at,
    updated_at: at,
  }
}

function anyTask(project_id: ProjectId): TaskFilter {
  return {
    project_id,
    status: null,
    q: null,
    label: null,
    assignee: null,
    parent_id: null,
    include_archived: false,
    after: null,
    limit: 50,
  }
}
