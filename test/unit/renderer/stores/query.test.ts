import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, expect, test } from 'vitest'
import { nextTick, shallowRef } from 'vue'
import { useAction, useQuery, useRequests, type QueryKey } from '../../../../src-renderer/stores/base/query.ts'
import { ApiError } from '../../../../src-shared/contract/errors.ts'

beforeEach(() => setActivePinia(createPinia()))

const gone = () => Promise.reject(new ApiError({ code: 'not_found', message: 'It is gone.' }))

test('keeps an error until the next try, in other words if there are any', async () => {
  const { busy, failure, run } = useAction()
  expect(await run(gone)).toBe(false)
  expect(failure.value).toBe('It is gone.')
  expect(await run(gone, () => 'Nobody has it.')).toBe(false)
  expect(failure.value).toBe('Nobody has it.')
  expect(await run(() => Promise.resolve())).toBe(true)
  expect({ busy: busy.value, failure: failure.value }).toEqual({ busy: false, failure: null })
})

test('runs one action at a time and keeps the name of the running one', async () => {
  const { busy, current, run, runWithToast } = useAction<'first' | 'second'>()
  const end = Promise.withResolvers<void>()
  const first = runWithToast('It was not done.', () => end.promise, 'first')
  expect(await runWithToast('Nor that.', () => Promise.reject(new Error('It was done.')), 'second')).toBe(false)
  expect(await run(() => Promise.reject(new Error('It was done.')))).toBe(false)
  expect({ busy: busy.value, doing: current.value }).toEqual({ busy: true, doing: 'first' })
  end.resolve()
  expect(await first).toBe(true)
  expect({ busy: busy.value, doing: current.value }).toEqual({ busy: false, doing: null })
})

test('reports the error of a fetch without blocking', async () => {
  const { busy, failure, load, run } = useAction()
  const end = Promise.withResolvers<void>()
  const loaded = load(() => end.promise)
  expect(busy.value).toBe(false)
  expect(await run(() => Promise.resolve())).toBe(true)
  end.resolve()
  expect(await loaded).toBe(true)
  expect(await load(gone)).toBe(false)
  expect(failure.value).toBe('It is gone.')
})

/** Requests that the test answers in any order. */
function answering() {
  const begun: PromiseWithResolvers<string>[] = []
  const load = () => {
    const one = Promise.withResolvers<string>()
    begun.push(one)
    return one.promise
  }
  return { begun, load }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('takes the answer of the last request, and stays cleared', async () => {
  const { begun, load } = answering()
  const { data, error, loading, reload, clear } = useQuery(load)
  expect(begun).toHaveLength(0)
  const [first, second] = [reload(), reload()]
  begun[1]?.resolve('second')
  await second
  begun[0]?.resolve('first')
  await first
  expect({ data: data.value, loading: loading.value }).toEqual({ data: 'second', loading: false })
  const third = reload()
  begun[2]?.reject(new Error('Not to be had.'))
  await third
  expect({ data: data.value, error: error.value?.message }).toEqual({ data: 'second', error: 'Not to be had.' })
  const fourth = reload()
  clear()
  begun[3]?.resolve('fourth')
  await fourth
  expect({ data: data.value, error: error.value, loading: loading.value }).toEqual({
    data: null,
    error: null,
    loading: false,
  })
})

test('loads at once and for each other key, and nothing without a key', async () => {
  const { begun, load } = answering()
  const key = shallowRef<QueryKey>(['moves', 'a', 1])
  const { data, loading } = useQuery(load, () => key.value)
  expect({ asked: begun.length, loading: loading.value }).toEqual({ asked: 1, loading: true })
  begun[0]?.resolve('first')
  await settled()
  key.value = ['moves', 'a', 1]
  await nextTick()
  expect({ asked: begun.length, data: data.value }).toEqual({ asked: 1, data: 'first' })
  key.value = ['moves', 'a', 2]
  await nextTick()
  expect({ asked: begun.length, data: data.value }).toEqual({ asked: 2, data: 'first' })
  begun[1]?.resolve('second')
  await settled()
  expect(data.value).toBe('second')
  key.value = null
  await nextTick()
  expect({ asked: begun.length, data: data.value }).toEqual({ asked: 2, data: null })
})

test('shares a request between queries of a key, but not a reload', async () => {
  const { begun, load } = answering()
  const one = useQuery(load, () => ['moves', 'a'])
  const other = useQuery(load, () => ['moves', 'a'])
  useQuery(load, () => ['moves', 'b'])
  expect(begun).toHaveLength(2)
  begun[0]?.resolve('shared')
  await settled()
  expect([one.data.value, other.data.value]).toEqual(['shared', 'shared'])
  void one.reload()
  expect(begun).toHaveLength(3)
})

test('shares a pending request, unless it was dropped', async () => {
  const { begun, load } = answering()
  const { share, forget } = useRequests()
  const [first, second] = [share('a', load), share('a', load)]
  expect(begun).toHaveLength(1)
  forget()
  const third = share('a', load)
  expect(begun).toHaveLength(2)
  begun[0]?.resolve('old')
  expect(await Promise.all([first, second])).toEqual(['old', 'old'])
  // A late answer is not shared with newer requests.
  const fourth = share('a', load)
  expect(begun).toHaveLength(2)
  begun[1]?.reject(new Error('Not to be had.'))
  await expect(third).rejects.toThrow('Not to be had.')
  await expect(fourth).rejects.toThrow('Not to be had.')
  void share('a', load)
  void share('b', load)
  expect(begun).toHaveLength(4)
})
