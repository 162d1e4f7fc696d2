import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cycleThrough, type DependencyPair } from '../../../../src-main/tasks/rules/dependency-cycle.ts'
import type { TaskId } from '../../../../src-shared/contract/ids.ts'

const pair = (from: string, to: string): DependencyPair => ({ task_id: from as TaskId, depends_on_id: to as TaskId })
const pairs = (...texts: string[]) => texts.map((text) => pair(text.charAt(0), text.charAt(1)))

test.each([
  ['a task that waits for itself is a circle', 'aa', [], ['a', 'a']],
  ['two tasks that wait for each other are a circle', 'ab', ['ba'], ['a', 'b', 'a']],
  ['the way round names every task in the order of waiting', 'ab', ['bc', 'cd', 'da'], ['a', 'b', 'c', 'd', 'a']],
  ['of two ways round it names the shorter', 'ab', ['bc', 'cd', 'da', 'ca'], ['a', 'b', 'c', 'a']],
  ['a second way to the same task is no circle', 'ac', ['ab', 'bc'], null],
  ['a pair that is there already is no circle', 'ab', ['ab'], null],
  ['tasks that wait for the new one do not matter', 'ab', ['xa', 'ya', 'bc'], null],
  ['a circle elsewhere, from before, is not walked for ever', 'ab', ['bc', 'cd', 'dc'], null],
])('%s', (_name, wanted, existing, path) => {
  expect(cycleThrough(pair(wanted.charAt(0), wanted.charAt(1)), pairs(...existing))).toEqual(path)
})

test('refuses exactly the dependencies that would close a circle', () => {
  const anyPair = fc.tuple(fc.nat(7), fc.nat(7)).map(([a, b]) => pair(String(a), String(b)))
  fc.assert(
    fc.property(fc.array(anyPair, { maxLength: 40 }), (wanted) => {
      const kept: DependencyPair[] = []
      for (const one of wanted) {
        const path = cycleThrough(one, kept)
        if (path) {
          expect([path[0], path.at(-1)]).toEqual([one.task_id, one.task_id])
          const steps = path.slice(1).map((to, index) => `${path[index] ?? ''}>${to}`)
          const known = new Set([one, ...kept].map((each) => `${each.task_id}>${each.depends_on_id}`))
          expect(steps.filter((step) => !known.has(step))).toEqual([])
        } else kept.push(one)
      }
      expect(sorted(kept)).toBe(true)
    }),
  )
})

/** Removes tasks that wait for nothing until none is left; a circle remains. */
function sorted(kept: readonly DependencyPair[]): boolean {
  let left = [...kept]
  for (;;) {
    const waiting = new Set(left.map((one) => one.task_id))
    const next = left.filter((one) => waiting.has(one.depends_on_id))
    if (next.length === 0) return true
    if (next.length === left.length) return false
    left = next
  }
}

test('searches a long chain in linear time', () => {
  const chain = Array.from({ length: 50_000 }, (_, index) => pair(String(index + 1), String(index + 2)))
  expect(cycleThrough(pair('0', '1'), chain)).toBeNull()
  expect(cycleThrough(pair('50001', '1'), chain)).toHaveLength(50_002)
})
