import MarkdownIt from 'markdown-it'
import { escapeControls } from '../../src-shared/lang/hidden-characters.ts'

const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false })

// Other schemes can start programs or open local files.
markdown.validateLink = (address) => {
  const [, scheme] = /^\s*([a-z][a-z0-9+.-]*):/i.exec(address) ?? []
  return scheme === undefined || /^(?:https?|mailto|attachment)$/i.test(scheme)
}

/** Returns the ID of the attachment that an address names; null for other addresses. */
const attachmentOf = (address: string): string | null => /^attachment:([0-9a-f-]{36})$/i.exec(address)?.[1] ?? null

const escape = (text: string) => markdown.utils.escapeHtml(text)
const maxTagLength = 4_000

/** Returns the value of an attribute in an HTML tag, in either kind of quotes. */
function attribute(tag: string, name: 'src' | 'alt'): string | null {
  const [, double, single] = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag) ?? []
  const value = double ?? single
  return value === undefined ? null : markdown.utils.unescapeAll(value).trim()
}

// An agent's text must not make this window fetch anything, so an image becomes a link.
markdown.renderer.rules['image'] = (tokens, index) => {
  const token = tokens[index]
  const source = String(token?.attrGet('src') ?? '')
  const name = token?.content.trim() || source
  const attachment = attachmentOf(source)
  // The component that shows the text fetches the file with the reader’s own rights.
  if (attachment !== null) {
    return `<a class="md-picture" href="#" data-attachment="${escape(attachment)}">${escape(name)}</a>`
  }
  return `<a href="${escape(source)}" target="_blank" rel="noopener noreferrer">${escape(`Image: ${name}`)}</a>`
}
// Trackers write images as HTML, so `<img>` becomes a link as well. All other HTML stays text.
markdown.inline.ruler.before('link', 'html_picture', (state, silent) => {
  if (state.src.charCodeAt(state.pos) !== 0x3c) return false
  const [tag] = /^<img\s[^<>]*>/i.exec(state.src.slice(state.pos, state.pos + maxTagLength)) ?? []
  const source = tag === undefined ? null : attribute(tag, 'src')
  if (tag === undefined || source === null || !/^https?:\/\//i.test(source)) return false
  if (!silent) {
    const token = state.push('image', 'img', 0)
    token.attrs = [['src', source]]
    token.content = attribute(tag, 'alt') ?? ''
  }
  state.pos += tag.length
  return true
})
markdown.renderer.rules['link_open'] = (tokens, index, options, _env, self) => {
  const token = tokens[index]
  const attachment = attachmentOf(String(token?.attrGet('href') ?? ''))
  if (attachment !== null) {
    token?.attrSet('href', '#')
    token?.attrSet('data-attachment', attachment)
    return self.renderToken(tokens, index, options)
  }
  token?.attrSet('target', '_blank')
  token?.attrSet('rel', 'noopener noreferrer')
  // The tooltip shows the link's target, which its text may hide.
  token?.attrSet('title', String(token.attrGet('href') ?? ''))
  return self.renderToken(tokens, index, options)
}
markdown.renderer.rules['code_inline'] = (tokens, index) =>
  `<code class="ic">${escape(tokens[index]?.content ?? '')}</code>`
const block = (content: string) => `<pre class="md-code" tabindex="0">${escape(content)}</pre>`
markdown.renderer.rules['fence'] = (tokens, index) => block(tokens[index]?.content ?? '')
markdown.renderer.rules['code_block'] = (tokens, index) => block(tokens[index]?.content ?? '')

/** Returns the host of a written-out address; null without one. */
const hostIn = (text: string): string | null =>
  URL.parse(/^\s*(?:www\.|\/\/)/i.test(text) ? `https://${text.trim().replace(/^\/\//, '')}` : text)?.host || null

// Readers trust a link's text if it looks like an address, so a differing host is added after it.
markdown.core.ruler.after('linkify', 'true_host', ({ tokens, Token }) => {
  for (const { children } of tokens) {
    for (let at = (children?.length ?? 0) - 1; at >= 0; at--) {
      const opening = children?.[at]
      if (!children || opening?.type !== 'link_open') continue
      const end = children.findIndex(({ type }, index) => index > at && type === 'link_close')
      const text = children.slice(at + 1, end).map(({ content }) => content)
      const [shownHost, realHost] = [hostIn(text.join('')), hostIn(String(opening.attrGet('href') ?? ''))]
      if (shownHost === null || shownHost === realHost) continue
      const host = new Token('text', '', 0)
      host.content = ` (${realHost ?? 'in Copse'})`
      children.splice(end, 0, host)
    }
  }
})

// Task lists show a box per item, which readers can't tick.
markdown.core.ruler.after('inline', 'task_box', ({ tokens, Token }) => {
  for (const [index, token] of tokens.entries()) {
    const [text] = token.children ?? []
    const [mark, tick] =
      (tokens[index - 2]?.type === 'list_item_open' && /^\[([ xX])\] /.exec(text?.content ?? '')) || []
    if (!text || mark === undefined) continue
    const box = new Token('task_box', '', 0)
    box.content = tick === ' ' ? 'To do' : 'Done'
    text.content = text.content.slice(mark.length)
    token.children?.unshift(box)
  }
})
markdown.renderer.rules['task_box'] = (tokens, index) => {
  const words = tokens[index]?.content ?? ''
  return `<span class="md-box" role="img" aria-label="${escape(words)}">${words === 'Done' ? '☑' : '☐'}</span> `
}

/**
 * Renders Markdown as safe HTML: raw HTML and characters that reverse text are shown as text,
 * remote images become links, links open outside.
 */
export function renderMarkdown(source: string): string {
  return markdown.render(escapeControls(source))
}
