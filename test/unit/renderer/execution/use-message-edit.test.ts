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

test('what is being written when the agent gets the message is handed back once', async () => {
  const { waiting, late, edit } = edited()
  edit.text.value = 'Handle zero'
  waiting.value = [message('e2', 'Another')]
  await nextTick()
  expect([late, edit.id.value]).toEqual([['Handle zero'], null])
})

test('a message that was opened and not changed leaves nothing behind', async () => {
  const { waiting, late, edit } = edited()
  waiting.value = []
  await nextTick()
  expect([late, edit.id.value]).toEqual([[], null])
})

test.each([
  { taken: true, left: [] },
  { taken: false, left: ['Handle zero'] },
])('of a message that goes while its change is on its way, the answer decides: $taken', async ({ taken, left }) => {
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

test('a change that is taken while another task is looked at leaves that one’s alone', async () => {
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

test('a change that was refused stays to be sent again', async () => {
  const { answer, edit } = edited()
  edit.text.value = 'Handle zero'
  answer.resolve(false)
  await edit.save()
  expect([edit.id.value, edit.text.value]).toEqual(['e1', 'Handle zero'])
})
