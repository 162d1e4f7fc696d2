import { afterEach, expect, test, vi } from 'vitest'
import { nextTick, ref, shallowRef } from 'vue'
import type { Execution } from '../../../../src-shared/contract/executions.ts'
import { useMessageEdit } from '../../../../src-renderer/features/execution/use-message-edit.ts'
import { withService } from '../renderer-app.ts'

afterEach(() => vi.unstubAllGlobals())

const message = (id: string, text: string) => ({ id, message: text }) as Execution
const first = message('e1', 'Handle nought')

function edited() {
  const waiting = shallowRef<readonly Execution[]>([first])
  const task = ref('t1')
  const answer = Promise.withResolvers<boolean>()
  const late: string[] = []
  const { used: edit } = withService({}, () =>
    useMessageEdit(() => task.value, {
      waiting: () => waiting.value,
      change: () => answer.promise,
      late: (text) => late.push(text),
    }),
  )
  edit.begin(first)
  return { waiting, task, answer, late, edit }
}

test('returns an unfinished edit once when the agent gets the message', async () => {
  const { waiting, late, edit } = edited()
  edit.text.value = 'Handle zero'
  waiting.value = [message('e2', 'Another')]
  await nextTick()
  expect([late, edit.id.value]).toEqual([['Handle zero'], null])
})

test('leaves nothing behind for an unchanged message', async () => {
  const { waiting, late, edit } = edited()
  waiting.value = []
  await nextTick()
  expect([late, edit.id.value]).toEqual([[], null])
})

test.each([
  { taken: true, left: [] },
  { taken: false, left: ['Handle zero'] },
])('follows the service’s answer if a message is sent during its edit: $taken', async ({ taken, left }) => {
  const { waiting, answer, late, edit } = edited()
  edit.text.value = 'Handle zero'
  const saved = edit.save()
  waiting.value = []
  await nextTick()
  expect(late).toEqual([])
  answer.resolve(taken)
  await saved
  await nextTick()
  expect([late, edit.id.value, edit.saving.value]).toEqual([left, null, false])
})

test('leaves another task’s edit alone when a change is accepted', async () => {
  const { answer, task, edit } = edited()
  const saved = edit.save()
  task.value = 't2'
  edit.begin(first)
  answer.resolve(true)
  await saved
  expect(edit.id.value).toBe('e1')
  task.value = 't1'
  expect(edit.id.value).toBeNull()
})

test('keeps a refused change to send again', async () => {
  const { answer, edit } = edited()
  edit.text.value = 'Handle zero'
  answer.resolve(false)
  await edit.save()
  expect([edit.id.value, edit.text.value]).toEqual(['e1', 'Handle zero'])
})
