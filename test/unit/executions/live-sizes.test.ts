import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import type { WatchEvent } from '../../../src-main/ports/diff-reader.ts'
import { createDiffStatTracker } from '../../../src-main/executions/live-sizes.ts'
import { WorkspaceError } from '../../../src-main/ports/workspace-error.ts'
import type { TaskId } from '../../../src-shared/contract/ids.ts'
import type { DiffStat } from '../../../src-shared/contract/tasks.ts'

const one = 'one' as TaskId
const other = 'other' as TaskId

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** Branches that grow by a line per measurement, each of which takes `tookMs`. */
function setUp(tookMs = 0) {
  const watches = new Map<string, { readonly news: WatchEvent; closed: boolean }>()
  const written: string[] = []
  const under = { now: 0, most: 0, lines: 0, fails: false, closes: true }
  const workspaces = {
    watch: (path: string, news: WatchEvent) => {
      const watch = { news, closed: false }
      watches.set(path, watch)
      const close = async () => {
        if (!under.closes) throw new Error('The watch is stuck.')
        watch.closed = true
      }
      return Promise.resolve({ how: () => 'watching' as const, close })
    },
    diffStat: async (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
      under.most = Math.max(under.most, ++under.now)
      await new Promise((resolve) => setTimeout(resolve, tookMs))
      under.now -= 1
      signal.throwIfAborted()
      if (under.fails) throw new WorkspaceError('git_failed', 'It is locked.')
      return { files: 1, additions: ++under.lines, deletions: 0 }
    },
  }
  const read = {
    tasks: { get: (id: string) => ({ id, project_id: 'p', parent_id: null, subtask_mode: null, diff_stat: null }) },
    workspaces: { byTask: (id: string) => ({ path: `/w/${id}`, port_base: null }) },
  }
  const tx = {
    tasks: {
      ...read.tasks,
      put: ({ id, diff_stat }: { id: string; diff_stat: DiffStat }) => written.push(`${id} +${diff_stat.additions}`),
    },
    workspaces: read.workspaces,
    dependencies: { of: () => [] },
    external_links: { ofTask: () => null },
    emit: () => undefined,
  }
  const sizes = createDiffStatTracker(
    {
      places: { of: () => ({ diffs: workspaces }) } as never,
      store: { read } as never,
      feed: { commit: (write: (given: unknown) => void) => write(tx) } as never,
      clock: { now: () => Date.now() },
      log: createLogger({ level: 'silent' }),
    },
    { ref: (workspace) => Promise.resolve(workspace as never) },
    1_000,
  )
  return { sizes, written, under, watches, change: (id: string) => watches.get(`/w/${id}`)?.news.onChange(null) }
}

test('measures a branch once its run has lasted, then after each change, but not more often', async () => {
  const { sizes, written, watches, change } = setUp()
  sizes.follow(one)
  await vi.advanceTimersByTimeAsync(999)
  expect(watches.size).toBe(0)
  await vi.advanceTimersByTimeAsync(10)
  expect(written).toEqual(['one +1'])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(written).toHaveLength(1)
  for (let n = 0; n < 50; n += 1) {
    change(one)
    await vi.advanceTimersByTimeAsync(100)
  }
  await vi.advanceTimersByTimeAsync(1_000)
  expect(written.length).toBeGreaterThanOrEqual(5)
  expect(written.length).toBeLessThanOrEqual(7)
})

test('waits longer where measuring takes long, and never measures twice at once', async () => {
  const { sizes, written, under, change } = setUp(500)
  sizes.follow(one)
  sizes.follow(other)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(written).toEqual(['one +1', 'other +2'])
  change(one)
  change(other)
  await vi.advanceTimersByTimeAsync(9_000)
  expect(written).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(written).toHaveLength(4)
  expect(under.most).toBe(1)
})

test('stops measuring and watching when the run ends', async () => {
  const { sizes, written, watches, change } = setUp(500)
  const short = sizes.follow(other)
  await short()
  const end = sizes.follow(one)
  await vi.advanceTimersByTimeAsync(1_100)
  const ended = end()
  await vi.advanceTimersByTimeAsync(500)
  await ended
  change(one)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(written).toEqual([])
  expect([...watches].map(([path, { closed }]) => [path, closed])).toEqual([['/w/one', true]])
})

test('measures after the next change if it fails', async () => {
  const { sizes, written, under, change } = setUp()
  under.fails = true
  sizes.follow(one)
  await vi.advanceTimersByTimeAsync(1_000)
  await vi.advanceTimersByTimeAsync(10)
  under.fails = false
  change(one)
  await vi.advanceTimersByTimeAsync(1_010)
  expect(written).toEqual(['one +1'])
})

test('lets a run end although its watch cannot be closed', async () => {
  const { sizes, under } = setUp()
  const end = sizes.follow(one)
  await vi.advanceTimersByTimeAsync(1_010)
  under.closes = false
  await expect(end()).resolves.toBeUndefined()
})
