import { expect, test } from 'vitest'
import { linkAmong, readDeepLink } from '../../../src-main/desktop/deep-link.ts'

const id = '0199f3a0-1111-7abc-8def-001122334455'

test('reads the full task ID of a link, however it is written', () => {
  expect(readDeepLink(`copse://task/${id}`)).toEqual({ kind: 'task', task_id: id })
  // Systems pass hosts in any case, some with a final slash.
  expect(readDeepLink(`COPSE://task/${id.toUpperCase()}/`)).toEqual({ kind: 'task', task_id: id })
})

test.each([
  '',
  'copse:',
  'copse://',
  'copse://task',
  'copse://task/',
  'copse://task/0199f3a0',
  `copse://task/${id}/changes`,
  `copse://task/${id}?x=1`,
  `copse://task/${id}#x`,
  `copse://task/../app/${id}`,
  `copse://task/${id}%00`,
  `copse://app/task/${id}`,
  `copse://task@evil.example/${id}`,
  `copse://task/${id}\n--inspect`,
  `https://task/${id}`,
  `copse://task/${'a'.repeat(100_000)}`,
])('refuses %j', (link) => {
  expect(readDeepLink(link)).toEqual({ kind: 'malformed' })
})

test('finds the link among the arguments of a start', () => {
  expect(linkAmong(['/opt/Copse/copse', '--', `copse://task/${id}`])).toBe(`copse://task/${id}`)
  expect(linkAmong(['--hidden', '/home/me/copse:notes'])).toBeNull()
})
