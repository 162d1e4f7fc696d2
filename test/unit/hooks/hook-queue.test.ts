import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import { createDurableWrites } from '../../../src-main/core/durable-writes.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { HookEvent, HookRun } from '../../../src-shared/contract/lifecycle-hooks.ts'
import type { PendingHooks } from '../../../src-main/domain/transition/pending-hooks.ts'
import { createHookQueue, type HookQueueDeps } from '../../../src-main/hooks/hook-queue.ts'
import type { PendingHooksRecord } from '../../../src-main/ports/effect-queries.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const task_id = 'T' as TaskId

/**
 * Creates the queue over a store in memory; its hooks run until they are ended, or end at once if `quick` says so.
 */
function queueWith(quick: readonly HookEvent[]) {
  let id = 0
  const rows = new Map<number, PendingHooksRecord>()
  const ran: string[] = []
  const pendingHooks = {
    get: (one: number) => rows.get(one) ?? null,
    ofTask: () => [...rows.values()],
    remove: (one: number) => rows.delete(one),
    update: (one: number, data: PendingHooks) => rows.set(one, { id: one, task_id, data }),
  }
  const task = { id: task_id, project_id: 'P', subtask_mode: null, parent_id: null }
  const read = {
    pendingHooks,
    tasks: { get: () => task },
    projects: { get: () => null },
    workspaces: { byTask: () => ({ path: '/work', repo_path: '/repo' }) },
    transitions: { get: () => null },
  }
  const deps = {
    context: {
      store: { read },
      feed: { commit: (work: (tx: unknown) => unknown) => work({ ...read, emit: () => undefined }) },
      writes: createDurableWrites({ log: createLogger({ level: 'silent' }) }),
      places: {
        of: () => ({ worktrees: { exists: () => Promise.resolve(true) } }),
        scripts: () => ({
          run: async ({ env }: { env: { SVC_EVENT: HookEvent } }, { signal }: { signal: AbortSignal }) => {
            if (!quick.includes(env.SVC_EVENT))
              await new Promise((resolve) => signal.addEventListener('abort', resolve))
            return { exit_code: signal.aborted ? 130 : 0, timed_out: false, duration_ms: 0, output_tail: '' }
          },
        }),
      },
      redactor: () => (text: string) => text,
      newId: () => 'M',
      log: { error: (details: { err: unknown }) => expect.unreachable(String(details.err)) },
    },
    worktrees: { environment: (_task: unknown, event: string) => ({ SVC_EVENT: event }) },
    runs: {
      run: async (_task: unknown, start: { event: string }, work: (live: object) => Promise<{ status: string }>) => {
        const end = await work({ changed: () => undefined })
        ran.push(`${start.event} ${end.status}`)
        return { ...start, ...end, log_name: '', duration_ms: 0 } as unknown as HookRun
      },
    },
    waitUntilIdle: () => Promise.resolve(),
  } as unknown as HookQueueDeps
  const queue = createHookQueue(deps)
  const note = (event: HookEvent, count = 1) => {
    const hook = { type: 'script', command: 'x', timeout_seconds: 30, success_exit_codes: [0], applies_to: 'all' }
    const data = {
      event,
      hooks: Array.from({ length: count }, (_, index) => ({ index, hook })),
      from: 'a',
      to: 'b',
      triggered_by: 'system',
      cursor: 0,
    }
    id += 1
    rows.set(id, { id, task_id, data: { ...data, transition_id: null } as unknown as PendingHooks })
    queue.wake(task_id)
  }
  return { queue, note, ran, rows }
}

test('gives a hook half a minute after its work has stopped', async () => {
  const { note, ran, rows } = queueWith(['on_work_stop'])
  note('on_work_start')
  note('on_work_stop')
  await vi.advanceTimersByTimeAsync(29_000)
  expect(ran).toEqual(['on_work_stop succeeded'])
  await vi.advanceTimersByTimeAsync(2_000)
  expect(ran).toEqual(['on_work_stop succeeded', 'on_work_start failed'])
  expect(rows.size).toBe(0)
})

test('keeps hooks that start when the work starts again in that time', async () => {
  const { note, ran, rows } = queueWith(['on_work_stop'])
  note('on_work_start')
  note('on_work_stop')
  await vi.advanceTimersByTimeAsync(10_000)
  note('before_work')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ran).toEqual(['on_work_stop succeeded', 'on_work_start failed'])
  expect([...rows.values()].map(({ data }) => data.event)).toEqual(['before_work'])
})

test('stops hooks of the work when it ends, even if the end has no hook', async () => {
  const { note, ran, rows } = queueWith([])
  note('on_work_start')
  note('on_work_stop', 0)
  await vi.advanceTimersByTimeAsync(31_000)
  expect(ran).toEqual(['on_work_start failed'])
  expect(rows.size).toBe(0)
})

test('leaves interrupted hooks for the next start, and begins none after closing', async () => {
  const { queue, note, ran, rows } = queueWith([])
  note('on_task_done')
  await vi.advanceTimersByTimeAsync(1)
  await queue.close()
  note('on_work_stop')
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ran).toEqual([])
  expect(rows.size).toBe(2)
})

test('drops hooks that have not begun when those of the task are ended', async () => {
  const { queue, note, ran, rows } = queueWith([])
  note('on_work_stop')
  note('on_work_stop')
  await vi.advanceTimersByTimeAsync(1)
  await queue.end(task_id)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(ran).toEqual(['on_work_stop failed'])
  expect(rows.size).toBe(0)
})

test('waits for the enqueued hooks of an event, and no others', async () => {
  const { queue, note, ran } = queueWith(['on_work_stop'])
  note('on_task_cancel')
  note('on_work_stop')
  note('on_work_stop')
  await queue.waitUntilDrained(task_id, ['on_work_stop'], new AbortController().signal)
  expect(ran).toEqual(['on_work_stop succeeded', 'on_work_stop succeeded'])
})
