import { expect, test } from 'vitest'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import { createDurableWrites } from '../../../src-main/core/durable-writes.ts'
import { createKeyedLock } from '../../../src-main/platform/locks/keyed-lock.ts'
import { createCleanup, type CleanupDeps } from '../../../src-main/workspaces/cleanup.ts'
import type { ExecutionRecord } from '../../../src-main/ports/execution-queries.ts'
import type { TaskRecord } from '../../../src-main/ports/task-queries.ts'
import type { WorkspaceRecord } from '../../../src-main/ports/workspace-queries.ts'

const now = '2026-11-21T10:00:00.000Z'
const due = { id: 'W', task_id: 'T', status: 'cleanup_scheduled', cleanup_at: now, port_base: null } as WorkspaceRecord
const task = { id: 'T', project_id: 'P', parent_id: null, subtask_mode: null } as TaskRecord

/** A sweep over one worktree that was due when the database was asked, and its state when its turn comes. */
async function sweep(then: { workspace: WorkspaceRecord | null; open?: readonly ExecutionRecord[] }) {
  const removed: string[] = []
  const stopped: string[] = []
  const saved: string[] = []
  const read = {
    tasks: { get: () => task },
    executions: { openOfTask: () => then.open ?? [], open: () => [], queue: () => [] },
    pendingHooks: { ofTask: () => [] },
    workspaces: { toClean: () => [due], byTask: () => then.workspace },
  }
  const tx = {
    tasks: { children: () => [] },
    workspaces: { put: (record: WorkspaceRecord) => saved.push(record.status), byTask: () => then.workspace },
    emit: () => undefined,
  }
  const context = {
    store: { read },
    clock: { now: () => Date.parse(now) },
    feed: { commit: (work: (queries: typeof tx) => unknown) => work(tx) },
    writes: createDurableWrites({ log: createLogger({ level: 'silent' }) }),
    places: {
      of: () => ({
        worktrees: { remove: ({ task_id }: { task_id: string }) => Promise.resolve(removed.push(task_id)) },
      }),
    },
  }
  const lock = createKeyedLock()
  const cleanup = createCleanup({
    context: context as unknown as CleanupDeps['context'],
    transitions: {
      workflowOf: () => {
        throw new Error('Nobody asks for the workflow.')
      },
    },
    worktrees: { exclusively: ({ id }, work) => lock.run(id, work) },
    endAll: (task_id) => {
      stopped.push(task_id)
      return Promise.resolve()
    },
  })
  await cleanup.sweep(new AbortController().signal)
  return { removed, stopped, saved }
}

test('removes a worktree when its time has come', async () => {
  expect(await sweep({ workspace: due })).toEqual({ removed: ['T'], stopped: [], saved: ['cleaned'] })
})

test('keeps a worktree that was taken up again, postponed or already removed', async () => {
  const nothing = { removed: [], stopped: [], saved: [] }
  expect(await sweep({ workspace: { ...due, status: 'ready', cleanup_at: null } })).toEqual(nothing)
  expect(await sweep({ workspace: { ...due, cleanup_at: '2026-11-21T10:00:00.001Z' } })).toEqual(nothing)
  expect(await sweep({ workspace: { ...due, status: 'cleaned', cleanup_at: null } })).toEqual(nothing)
  expect(await sweep({ workspace: null })).toEqual(nothing)
})

test('neither removes a worktree that an execution is about to use, nor ends that', async () => {
  const open = [{ id: 'E', task_id: 'T' } as ExecutionRecord]
  expect(await sweep({ workspace: due, open })).toEqual({ removed: [], stopped: [], saved: [] })
})
