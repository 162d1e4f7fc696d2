import { expect, test } from 'vitest'
import {
  applyMarkdown,
  pathBeing,
  type Edit,
  type MarkdownAction,
} from '../../../../src-renderer/model/markdown-edit.ts'

/** `[` and `]` are the ends of the selection, `|` is an empty one. */
function read(marked: string): Edit {
  if (marked.includes('|')) {
    const at = marked.indexOf('|')
    return { text: marked.replace('|', ''), start: at, end: at }
  }
  const start = marked.indexOf('«')
  const end = marked.indexOf('»') - 1
  return { text: marked.replace(/[«»]/g, ''), start, end }
}
function show({ text, start, end }: Edit): string {
  if (start === end) return `${text.slice(0, start)}|${text.slice(end)}`
  return `${text.slice(0, start)}«${text.slice(start, end)}»${text.slice(end)}`
}
const apply = (marked: string, action: MarkdownAction) => show(applyMarkdown(read(marked), action))

test.each<[string, MarkdownAction, string]>([
  ['a «b» c', 'bold', 'a **«b»** c'],
  ['a **«b»** c', 'bold', 'a «b» c'],
  ['a |', 'italic', 'a _|_'],
  ['run «npm test»', 'code', 'run `«npm test»`'],
  ['x «a\nb»', 'code', 'x \n```\n«a\nb»\n```\n'],
  ['see «this» now', 'link', 'see [this](«url») now'],
  ['«https://copse.test/a»', 'link', '[|](https://copse.test/a)'],
  ['one\ntw|o', 'list', 'one\n- tw|o'],
  ['one\n- tw|o', 'list', 'one\ntw|o'],
  ['«one\ntwo»', 'checklist', '«- [ ] one\n- [ ] two»'],
  ['a «one\ntwo\n»three', 'quote', '«> a one\n> two»\nthree'],
  ['|', 'list', '- |'],
])('turns %j with %s into %j', (before, action, after) => {
  expect(apply(before, action)).toBe(after)
})

test('completes a path after an @ that begins a word, up to the caret', () => {
  expect(pathBeing(read('look at @src/a|'))).toEqual({ query: 'src/a', at: 8 })
  expect(pathBeing(read('@|'))).toEqual({ query: '', at: 0 })
  expect(pathBeing(read('(@b|)'))).toEqual({ query: 'b', at: 1 })
  expect(pathBeing(read('me@copse.test|'))).toBeNull()
  expect(pathBeing(read('@a b|'))).toBeNull()
  expect(pathBeing(read('«@a»'))).toBeNull()
})
