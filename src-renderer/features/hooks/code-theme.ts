import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import { tags } from '@lezer/highlight'
import { EditorView } from 'codemirror'

/** The CodeMirror theme, from tokens of the page, so that it works in light and dark. */
export const codeTheme = [
  EditorView.theme({
    '&': { fontSize: '12px', background: 'var(--surface)', color: 'var(--text)' },
    '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '20px' },
    '.cm-content': { padding: '6px 0', minHeight: '114px', caretColor: 'var(--text)' },
    '.cm-line': { padding: '0 8px' },
    '.cm-cursor': { borderLeftColor: 'var(--text)' },
    '.cm-placeholder': { color: 'var(--text-3)' },
    '&.cm-focused': { outline: 'none' },
    '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--active) !important' },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: tags.comment, color: 'var(--sx-com)' },
      { tag: tags.string, color: 'var(--sx-str)' },
      { tag: [tags.keyword, tags.standard(tags.variableName)], color: 'var(--sx-kw)' },
      { tag: [tags.definition(tags.variableName), tags.variableName], color: 'var(--sx-type)' },
      { tag: [tags.number, tags.bool], color: 'var(--sx-num)' },
    ]),
  ),
]
