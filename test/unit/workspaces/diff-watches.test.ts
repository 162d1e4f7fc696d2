import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import type { WatchEvent } from '../../../src-main/ports/diff-reader.ts'
import { createDiffWatches } from '../../../src-main/workspaces/diff-watches.ts'
import type { TaskRecord } from '../../../src-main/ports/task-queries.ts'
import type { WorkspaceRecord } from '../../../src-main/ports/workspace-queries.ts'

const start = Date.parse('2026-11-21T09:30:00.000Z')

beforeEach(() => vi.useFakeTimers({ now: start }))
afterEach(() => vi.useRealTimers())

/** The watches over folders that emit on demand. */
function setUp(options: { readonly status?: WorkspaceRecord['status']; readonly fails?: boolean } = {}) {
  const told: string[] = []
  const open: { readonly path: string; readonly news: WatchEvent; closed: boolean }[] = []
  const there = new Set(['/w/parent', '/w/other'])
  const workspaces = {
    exists: (path: string) => Promise.resolve(there.has(path)),
    watch: (path: string, news: WatchEvent) => {
      if (options.fails) return Promise.reject(new Error('git broke'))
      const one = { path, news, closed: false }
      open.push(one)
      const close = () => {
        one.closed = true
        return Promise.resolve()
      }
      return Promise.resolve({ how: () => 'watching' as const, close })
    },
  }
  const watches = createDiffWatches(
    {
      places: { of: () => ({ diffs: workspaces, worktrees: workspaces }) } as never,
      feed: { worktree: ({ task_id }: { task_id: string }) => told.push(task_id) } as never,
      clock: { now: () => Date.now() },
      log: createLogger({ level: 'silent' }),
    },
    { of: (task) => ({ status: options.status ?? 'ready', path: `/w/${task.parent_id ?? task.id}` }) as never },
    60_000,
  )
  const task = (id: string, parent_id: string | null = null) =>
    ({ id, parent_id, project_id: 'p' }) as unknown as TaskRecord
  return { watches, told, open, there, task }
}

const later = (seconds: number) => new Date(start + seconds * 1_000).toISOString()

test('shares one watch of a worktree, and notifies each viewer by their own task', async () => {
  const { watches, told, open, task } = setUp()
  const first = await watches.extend(task('parent'))
  expect(first).toEqual({ since: later(0), until: later(60) })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await watches.extend(task('turn', 'parent'))).toEqual({ since: later(0), until: later(70) })
  expect(open).toHaveLength(1)
  open[0]?.news.onChange(null)
  expect(told).toEqual(['parent', 'turn'])
})

test('ends a watch a minute after the last viewer, and starts a new one for the next', async () => {
  const { watches, open, told, task } = setUp()
  await watches.extend(task('parent'))
  await vi.advanceTimersByTimeAsync(50_000)
  await watches.extend(task('parent'))
  await vi.advanceTimersByTimeAsync(59_000)
  expect(open[0]?.closed).toBe(false)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(open[0]?.closed).toBe(true)
  open[0]?.news.onChange(null)
  expect(told).toEqual([])
  expect(await watches.extend(task('parent'))).toEqual({ since: later(110), until: later(170) })
  expect(open).toHaveLength(2)
})

test('notifies viewers once when the worktree is removed', async () => {
  const { watches, open, told, there, task } = setUp()
  await watches.extend(task('parent'))
  there.delete('/w/parent')
  open[0]?.news.onEnd()
  expect(told).toEqual(['parent'])
  expect(await watches.extend(task('parent'))).toEqual({ since: null, until: null })
  expect(open).toHaveLength(1)
})

test.each(['creating', 'cleaned'] as const)('does not watch a worktree that is %s', async (status) => {
  const { watches, open, task } = setUp({ status })
  expect(await watches.extend(task('parent'))).toEqual({ since: null, until: null })
  expect(open).toEqual([])
})

test('reports a watch that cannot start, and leaves nothing behind', async () => {
  const { watches, task } = setUp({ fails: true })
  await expect(watches.extend(task('parent'))).rejects.toThrow('git broke')
  expect(vi.getTimerCount()).toBe(0)
  await watches.close()
})

test('ends every watch and timer on close, and starts none afterwards', async () => {
  const { watches, open, task } = setUp()
  await Promise.all([watches.extend(task('parent')), watches.extend(task('other'))])
  await watches.close()
  expect(open.map(({ closed }) => closed)).toEqual([true, true])
  expect(vi.getTimerCount()).toBe(0)
  expect(await watches.extend(task('parent'))).toEqual({ since: null, until: null })
})
