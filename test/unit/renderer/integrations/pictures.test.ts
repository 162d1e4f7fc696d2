import { expect, test } from 'vitest'
import { renderMarkdown } from '../../../../src-renderer/components/markdown.ts'
import { cpuTime } from '../../../helpers/cpu-time.ts'

const link = (source: string, name: string) =>
  `<a href="${source}" target="_blank" rel="noopener noreferrer">Image: ${name}</a>`

test.each([
  [
    '<img width="3" alt="the shot" src="https://x.test/a.png?a=1&amp;b=2" />',
    link('https://x.test/a.png?a=1&amp;b=2', 'the shot'),
  ],
  ["<IMG SRC='http://x.test/a.png'>", link('http://x.test/a.png', 'http://x.test/a.png')],
  [
    'before <img src="https://x.test/a.png" alt="a &lt;b&gt;"> after',
    `before ${link('https://x.test/a.png', 'a &lt;b&gt;')} after`,
  ],
])('opens %s as a picture', (source, html) => {
  expect(renderMarkdown(source).trim()).toBe(`<p>${html}</p>`)
})

test.each([
  '<img src="javascript:alert(1)">',
  '<img src="/a.png">',
  '<img onerror="alert(1)">',
  '<image src="https://x.test/a.png">',
  '<script src="https://x.test/a.js"></script>',
])('keeps %s as text', (source) => {
  expect(renderMarkdown(source)).not.toMatch(/<(img|image|script)\b|="javascript|Image:/i)
})

test('keeps pictures in code', () => {
  expect(renderMarkdown('`<img src="https://x.test/a.png">`')).toContain('&lt;img src=')
  expect(renderMarkdown('```\n<img src="https://x.test/a.png">\n```')).not.toContain('Image:')
})

test('converts adversarial text quickly', () => {
  expect(cpuTime(() => renderMarkdown('<img '.repeat(100_000)))).toBeLessThan(5_000)
})
