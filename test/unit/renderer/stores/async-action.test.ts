import { expect, test } from 'vitest'
import { useAsyncAction } from '../../../../src-renderer/stores/async-action.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'

const gone = () => Promise.reject(new ApiError({ code: 'not_found', message: 'It is gone.' }))

test('what went wrong is kept to be said until the next try, in other words where somebody has them', async () => {
  const { busy, failure, run } = useAsyncAction()
  expect(await run(gone)).toBe(false)
  expect(failure.value).toBe('It is gone.')
  expect(await run(gone, () => 'Nobody has it.')).toBe(false)
  expect(failure.value).toBe('Nobody has it.')
  expect(await run(() => Promise.resolve())).toBe(true)
  expect({ busy: busy.value, failure: failure.value }).toEqual({ busy: false, failure: null })
})

test('one thing is done at a time: what is asked for meanwhile is not done, and what is under way keeps its name', async () => {
  const { busy, current, run, runWithToast } = useAsyncAction<'first' | 'second'>()
  const end = Promise.withResolvers<void>()
  const first = runWithToast('It was not done.', () => end.promise, 'first')
  expect(await runWithToast('Nor that.', () => Promise.reject(new Error('It was done.')), 'second')).toBe(false)
  expect(await run(() => Promise.reject(new Error('It was done.')))).toBe(false)
  expect({ busy: busy.value, doing: current.value }).toEqual({ busy: true, doing: 'first' })
  end.resolve()
  expect(await first).toBe(true)
  expect({ busy: busy.value, doing: current.value }).toEqual({ busy: false, doing: null })
})

test('what is fetched to be shown holds nobody up, and says what went wrong', async () => {
  const { busy, failure, load, run } = useAsyncAction()
  const end = Promise.withResolvers<void>()
  const loaded = load(() => end.promise)
  expect(busy.value).toBe(false)
  expect(await run(() => Promise.resolve())).toBe(true)
  end.resolve()
  expect(await loaded).toBe(true)
  expect(await load(gone)).toBe(false)
  expect(failure.value).toBe('It is gone.')
})
