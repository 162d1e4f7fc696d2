import { expect, test } from 'vitest'
import { shareInFlight } from '../../../../src-renderer/stores/share-in-flight.ts'

test('who asks while work is under way shares it, unless it was to be forgotten since', async () => {
  const begun: PromiseWithResolvers<void>[] = []
  const runs = shareInFlight(() => {
    const one = Promise.withResolvers<void>()
    begun.push(one)
    return one.promise
  })
  const [first, second] = [runs.run('a'), runs.run('a')]
  expect(begun).toHaveLength(1)
  runs.forget()
  const third = runs.run('a')
  expect(begun).toHaveLength(2)
  begun[0]?.resolve()
  await Promise.all([first, second])
  // What ends late is not what others share by then.
  const fourth = runs.run('a')
  expect(begun).toHaveLength(2)
  begun[1]?.reject(new Error('Not to be had.'))
  await expect(third).rejects.toThrow('Not to be had.')
  await expect(fourth).rejects.toThrow('Not to be had.')
  void runs.run('a')
  void runs.run('b')
  expect(begun).toHaveLength(4)
})
