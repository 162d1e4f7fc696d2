import { expect, test } from 'vitest'
import { createKeyedLock } from '../../../../src-main/platform/locks/keyed-lock.ts'

test('runs work with the same key in order, one at a time', async () => {
  const lock = createKeyedLock()
  const seen: string[] = []
  const gate = Promise.withResolvers<undefined>()
  const first = lock.run('a', async () => {
    seen.push('first begins')
    await gate.promise
    seen.push('first ends')
  })
  const second = lock.run('a', async () => void seen.push('second'))
  await lock.run('b', async () => void seen.push('other key'))
  gate.resolve(undefined)
  await Promise.all([first, second])
  expect(seen).toEqual(['first begins', 'other key', 'first ends', 'second'])
})

test('reports a failure to its caller and runs the next', async () => {
  const lock = createKeyedLock()
  const failed = lock.run('a', () => Promise.reject(new Error('no')))
  const next = lock.run('a', () => Promise.resolve('yes'))
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('yes')
})
