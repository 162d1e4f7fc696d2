import { afterEach, expect, test, vi } from 'vitest'
import { computed, nextTick, shallowRef } from 'vue'
import { useChosenRun } from '../../../../src-renderer/features/hooks/use-chosen-run.ts'
import type { HookRun } from '../../../../src-shared/contract/lifecycle-hooks.ts'
import type { ErrorAnnotation } from '../../../../src-shared/contract/tasks.ts'
import { withService } from '../renderer-app.ts'
import { runOf } from './hook-run-fixture.ts'

afterEach(() => void vi.unstubAllGlobals())

const running = { status: 'running', duration_ms: null, exit_code: null } as const
const failed = { status: 'failed', exit_code: 1 } as const
const held = (log_name: string): ErrorAnnotation => ({
  type: 'hook_failed',
  message: 'It failed.',
  recovery_actions: ['retry_hook', 'skip_hook_once'],
  log_name,
})

function look(first: readonly HookRun[]) {
  const runs = shallowRef(first)
  const annotation = shallowRef<ErrorAnnotation | null>(null)
  const { used } = withService({}, () =>
    useChosenRun(
      't1',
      computed(() => runs.value),
      () => annotation.value,
    ),
  )
  const become = async (next: readonly HookRun[], why: ErrorAnnotation | null = null) => {
    runs.value = next
    annotation.value = why
    await nextTick()
    return used.run.value
  }
  return { ...used, become }
}

test('follows running hooks and stays at the last', async () => {
  const { run, become } = look([runOf(1, running)])
  expect(run.value).toMatchObject({ status: 'running' })
  expect(await become([runOf(1)])).toEqual(runOf(1))
  expect(await become([runOf(2, running), runOf(1)])).toEqual(runOf(2, running))
  expect(await become([runOf(2), runOf(1)])).toEqual(runOf(2))
})

test('does not leave an old or chosen run', async () => {
  const reader = look([runOf(1)])
  expect(await reader.become([runOf(2, running), runOf(1)])).toEqual(runOf(1))
  const chooser = look([runOf(2, running), runOf(1)])
  chooser.chosen.value = runOf(1).log_name
  expect(await chooser.become([runOf(3, running), runOf(2), runOf(1)])).toEqual(runOf(1))
})

test('shows the blocking run once, then lets the person look elsewhere', async () => {
  const { chosen, become } = look([runOf(1)])
  const bad = runOf(2, failed)
  expect(await become([bad, runOf(1)], held(bad.log_name))).toEqual(bad)
  chosen.value = runOf(1).log_name
  expect(await become([runOf(3), bad, runOf(1)], held(bad.log_name))).toEqual(runOf(1))
})

test('shows a retried hook when it runs', async () => {
  const bad = runOf(1, failed)
  const { awaitNext, become } = look([bad])
  await become([bad], held(bad.log_name))
  awaitNext(true)
  expect(await become([bad])).toEqual(bad)
  expect(await become([runOf(2, running), bad])).toEqual(runOf(2, running))
  expect(await become([runOf(2), bad])).toEqual(runOf(2))
})

test('does not wait for a refused retry', async () => {
  const bad = runOf(1, failed)
  const { awaitNext, become } = look([bad])
  awaitNext(true)
  awaitNext(false)
  expect(await become([runOf(2, { event: 'on_task_done' }), bad])).toEqual(bad)
})
