import { describe, expect, test } from 'vitest'
import { renderMarkdown } from '../../../../src-renderer/components/markdown.ts'
import { parseTerminalText, plainTerminalText } from '../../../../src-renderer/components/terminal-text.ts'

const esc = '\u001b'

describe('a program’s output', () => {
  test('keeps colours over lines and drops every other sequence', () => {
    const text = `${esc}[31mred\nstill${esc}[0m ${esc}[2K${esc}]0;title\u0007plain${esc}[?25h`
    expect(parseTerminalText(text)).toEqual([
      [{ text: 'red', tone: 'red', bold: false }],
      [
        { text: 'still', tone: 'red', bold: false },
        { text: ' ', tone: null, bold: false },
        { text: 'plain', tone: null, bold: false },
      ],
    ])
  })
  test('contains nothing that acts on a terminal when copied', () => {
    expect(plainTerminalText(`${esc}[31mred${esc}[0m\n${esc}]0;title\u0007a\u0008b\u0003`)).toBe('red\nab')
  })
  test('reorders no text, and keeps letters of every language', () => {
    expect(plainTerminalText('\u202eabc\u2066 \u009b31m')).toBe('abc 31m')
    expect(plainTerminalText('grüße مرحبا שלום')).toBe('grüße مرحبا שלום')
  })
  test('shows only the last state of an overwritten line', () => {
    expect(parseTerminalText('10 %\r50 %\r100 %\nnext').map((line) => line.map((span) => span.text).join(''))).toEqual([
      '100 %',
      'next',
    ])
  })
  test('does not take the arguments of a palette colour for codes', () => {
    expect(parseTerminalText(`${esc}[38;5;31mx${esc}[1;38;2;1;31;3my`)).toEqual([
      [
        { text: 'x', tone: null, bold: false },
        { text: 'y', tone: null, bold: true },
      ],
    ])
  })
  test('drops control characters', () => {
    expect(parseTerminalText('a\u0000\u0007b')).toEqual([[{ text: 'ab', tone: null, bold: false }]])
  })
})

describe('markdown by others', () => {
  test('shows raw HTML as text', () => {
    expect(renderMarkdown('<script>alert(1)</script> <img src=x onerror=y>')).not.toMatch(/<(script|img)/)
  })
  test('turns images into links and fetches nothing', () => {
    const html = renderMarkdown('![chart](https://example.org/a.png) ![](data:image/png;base64,AAAA)')
    expect(html).not.toContain('<img')
    expect(html).toContain(
      '<a href="https://example.org/a.png" target="_blank" rel="noopener noreferrer">Image: chart</a>',
    )
  })
  test('makes no link of a script address', () => {
    expect(renderMarkdown('[x](javascript:alert(1))')).not.toContain('href')
  })

  test('links to the web and to mail alone, and says where a link leads', () => {
    for (const scheme of [
      'vscode://file/x',
      'file:///etc/passwd',
      'copse://app/',
      'blob:null/x',
      'data:image/png;base64,AA',
    ]) {
      expect(renderMarkdown(`[x](${scheme}) ![x](${scheme}) <${scheme}>`), scheme).not.toContain('href')
    }
    expect(renderMarkdown('[m](mailto:a@copse.test) [f](docs/a.md)')).toMatch(
      /href="mailto:a@copse.test".*href="docs\/a.md"/,
    )
    const spoof = renderMarkdown('[https://bank.test/a](https://evil.test/ "https://bank.test")')
    expect(spoof).toContain('title="https://evil.test/"')
    expect(spoof).toContain('https://bank.test/a (evil.test)</a>')
    expect(renderMarkdown('[**www.bank.test**](//evil.test/x)')).toContain('(evil.test)</a>')
    expect(renderMarkdown('[https://bank.test/a](https://bank.test/b) https://bank.test')).not.toContain('(')
    expect(renderMarkdown('a\u202eb `c\u2066`')).toBe(
      '<p>a&lt;U+202E&gt;b <code class="ic">c&lt;U+2066&gt;</code></p>\n',
    )
  })
  test('opens links outside', () => {
    expect(renderMarkdown('https://example.org')).toContain('target="_blank" rel="noopener noreferrer"')
  })
  test('shows checkboxes in a list of tasks', () => {
    const html = renderMarkdown('- [ ] one\n- [x] two\n- [y] three\n\n[x] four')
    expect(html.match(/aria-label="[^"]*">./g)).toEqual(['aria-label="To do">☐', 'aria-label="Done">☑'])
    expect(html).toContain('</span> two')
    expect(html).toContain('[y] three')
  })
  test('names an attachment and does not fetch it', () => {
    const id = '0197f000-0000-7000-8000-000000000001'
    const html = renderMarkdown(`![a "b"](attachment:${id}) [log](attachment:${id}) [x](attachment:1)`)
    expect(html).toContain(`<a class="md-picture" href="#" data-attachment="${id}">a &quot;b&quot;</a>`)
    expect(html).toContain(`<a href="#" data-attachment="${id}">log</a>`)
    expect(html).not.toContain('<img')
  })
  test('escapes code', () => {
    expect(renderMarkdown('`<b>`\n\n```html\n<i>\n```')).toContain('&lt;b&gt;')
  })
})
