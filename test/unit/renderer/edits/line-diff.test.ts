import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffLines } from '../../../../src-renderer/components/edits/line-diff.ts'

const shown = (before: string | null, after: string) => diffLines(before, after).lines.map((l) => l.sign + l.text)

describe('the difference of an edit', () => {
  test('removes and adds a changed line between its neighbours', () => {
    expect(shown('a\nb\nc\n', 'a\nB\nc\n')).toEqual([' a', '-b', '+B', ' c'])
  })
  test('shows a new file as additions', () => {
    expect(diffLines(null, 'a\nb\n')).toMatchObject({ additions: 2, deletions: 0 })
  })
  test('shows three lines of context on each side', () => {
    const lines = Array.from({ length: 20 }, (_, n) => String(n))
    const changed = lines.with(10, 'ten')
    expect(shown(lines.join('\n'), changed.join('\n'))).toEqual([' 7', ' 8', ' 9', '-10', '+ten', ' 11', ' 12', ' 13'])
  })
  test('marks the changed words of a line and its counterpart', () => {
    const [removed, added] = diffLines('return min(a, b);', 'return max(a, b);').lines
    expect([removed?.word, added?.word]).toEqual([
      [8, 10],
      [8, 10],
    ])
  })
  test('marks nothing in a rewritten line', () => {
    expect(diffLines('const a = 1', 'if (!ready) throw up').lines.every((line) => line.word === null)).toBe(true)
  })
  test('removes and adds large blocks whole, without aligning lines', () => {
    const block = (word: string) => Array.from({ length: 2_000 }, (_, n) => `${word}${n}`).join('\n')
    expect(diffLines(block('x'), block('y'))).toMatchObject({ additions: 2_000, deletions: 2_000 })
  })
  test('contains exactly the old and the new text', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
    fc.assert(
      fc.property(text, text, (old, next) => {
        const { lines, additions, deletions } = diffLines(old.join('\n'), next.join('\n'))
        const sizes = [old, next].map((part) => (part.join('\n') === '' ? 0 : part.length))
        expect(additions - deletions).toBe((sizes[1] ?? 0) - (sizes[0] ?? 0))
        const kept = lines.filter((line) => line.sign !== '-').map((line) => line.text)
        expect(next.join('\n')).toContain(kept.join('\n'))
      }),
    )
  })
})
