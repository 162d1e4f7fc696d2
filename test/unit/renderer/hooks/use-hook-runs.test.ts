import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { nextTick } from 'vue'
import { useHookRuns } from '../../../../src-renderer/features/hooks/use-hook-runs.ts'
import { useTaskInvalidation } from '../../../../src-renderer/stores/base/query.ts'
import type { HookRun } from '../../../../src-shared/contract/lifecycle-hooks.ts'
import { withService } from '../renderer-app.ts'
import { runOf } from './hook-run-fixture.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function look(answer: (limit: number) => readonly HookRun[]) {
  const asked: number[] = []
  const answers = {
    'tasks.hook_runs': ({ limit }: { limit: number }) => {
      asked.push(limit)
      return { items: answer(limit) }
    },
  }
  const { used, end } = withService(answers, () => ({ ...useHookRuns('t1'), news: useTaskInvalidation() }))
  /** Emits a change of the task and lets time pass. */
  const hear = async (ms: number, task = 't1') => {
    used.news.changed(task, 'hooks')
    await nextTick()
    await vi.advanceTimersByTimeAsync(ms)
  }
  return { ...used, asked, hear, end }
}

test('reads the newest runs at most every 300 ms, including the last change', async () => {
  let said = 0
  const running = (stdout: string) => runOf(9, { status: 'running', duration_ms: null, exit_code: null, stdout })
  const { runs, asked, hear, end } = look(() => [running(`line ${said}`), runOf(1)])
  await vi.advanceTimersByTimeAsync(0)
  expect(asked).toEqual([200])
  for (said = 1; said <= 30; said++) await hear(50)
  expect(asked.slice(1)).toEqual([10, 10, 10, 10, 10, 10])
  said = 31
  await hear(600)
  expect(runs.value?.map(({ stdout }) => stdout)).toEqual(['line 31', ''])
  const before = asked.length
  await hear(1_000, 'another task')
  expect(asked).toHaveLength(before)
  end()
})

test('reads all new runs, even more than it asked for', async () => {
  let newest = 3
  const all = () => Array.from({ length: newest }, (_, at) => runOf(newest - at))
  const { runs, asked, hear, end } = look((limit) => all().slice(0, limit))
  await vi.advanceTimersByTimeAsync(0)
  newest = 30
  await hear(300)
  expect(asked).toEqual([200, 10, 200])
  expect(runs.value).toHaveLength(30)
  end()
})

test('keeps what was known after a failed read, and marks it as possibly old', async () => {
  let away = false
  const { runs, failure, hear, load, end } = look(() => {
    if (away) throw new Error('away')
    return [runOf(1)]
  })
  await vi.advanceTimersByTimeAsync(0)
  away = true
  await hear(300)
  expect(runs.value).toEqual([runOf(1)])
  expect(failure.value).toBeInstanceOf(Error)
  away = false
  await load()
  expect(failure.value).toBeNull()
  end()
})

test('stops reading once the pane is closed', async () => {
  const { asked, hear, end } = look(() => [runOf(1)])
  await vi.advanceTimersByTimeAsync(0)
  await hear(0)
  await hear(0)
  end()
  const before = asked.length
  await hear(1_000)
  expect(asked).toHaveLength(before)
})
