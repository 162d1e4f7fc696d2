import { expect, test } from 'vitest'
import { createNewest } from '../../../../src-renderer/stores/newest.ts'

const answersTo = <T>(newest: ReturnType<typeof createNewest>) => {
  const { promise, resolve } = Promise.withResolvers<T>()
  return { asked: newest.ask(() => promise), resolve }
}

test('of what was told and what was asked for, that counts which began last, in whatever order it comes', async () => {
  const newest = createNewest()
  const first = answersTo<string>(newest)
  const second = answersTo<string>(newest)
  second.resolve('second')
  const later = await second.asked
  expect([later.answer, later.takes('a')]).toEqual(['second', true])
  first.resolve('first')
  const earlier = await first.asked
  expect([earlier.takes('a'), earlier.takes('b')]).toEqual([false, true])
})

test('an answer to what was asked for later counts, though an earlier one has come meanwhile', async () => {
  const newest = createNewest()
  const first = answersTo<string>(newest)
  const second = answersTo<string>(newest)
  first.resolve('first')
  expect((await first.asked).takes('a')).toBe(true)
  second.resolve('second')
  expect((await second.asked).takes('a')).toBe(true)
})

test('what was told while an answer was on its way is newer than the answer', async () => {
  const newest = createNewest()
  newest.told('b')
  const asking = answersTo<string>(newest)
  newest.told('a')
  asking.resolve('answer')
  const { takes } = await asking.asked
  expect([takes('a'), takes('b')]).toEqual([false, true])
})
