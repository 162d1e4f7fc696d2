import { expect, test } from 'vitest'
import { createLatestWins } from '../../../../src-renderer/stores/latest-wins.ts'

const answersTo = <T>(newest: ReturnType<typeof createLatestWins>) => {
  const { promise, resolve } = Promise.withResolvers<T>()
  return { asked: newest.ask(() => promise), resolve }
}

test('of what was told and what was asked for, that counts which began last, in whatever order it comes', async () => {
  const newest = createLatestWins()
  const first = answersTo<string>(newest)
  const second = answersTo<string>(newest)
  second.resolve('second')
  const later = await second.asked
  expect([later.answer, later.isLatest('a')]).toEqual(['second', true])
  first.resolve('first')
  const earlier = await first.asked
  expect([earlier.isLatest('a'), earlier.isLatest('b')]).toEqual([false, true])
})

test('an answer to what was asked for later counts, though an earlier one has come meanwhile', async () => {
  const newest = createLatestWins()
  const first = answersTo<string>(newest)
  const second = answersTo<string>(newest)
  first.resolve('first')
  expect((await first.asked).isLatest('a')).toBe(true)
  second.resolve('second')
  expect((await second.asked).isLatest('a')).toBe(true)
})

test('what was told while an answer was on its way is newer than the answer', async () => {
  const newest = createLatestWins()
  newest.markUpdated('b')
  const asking = answersTo<string>(newest)
  newest.markUpdated('a')
  asking.resolve('answer')
  const { isLatest } = await asking.asked
  expect([isLatest('a'), isLatest('b')]).toEqual([false, true])
})
