import { registerCustomCSSVariableTheme } from '@pierre/diffs'

const themeName = 'copse'
let registered = false

/**
 * Registers and returns the highlighter's theme. Syntax colours are the page's tokens, so one theme
 * serves light and dark.
 */
export function diffTheme(): { light: string; dark: string } {
  if (!registered) registerCustomCSSVariableTheme(themeName, {})
  registered = true
  return { light: themeName, dark: themeName }
}

/**
 * Styles inside the viewer's shadow root, where the page's styles don't reach. Values are tokens as
 * elsewhere. Lines and their numbers are not positioned, and signs float: otherwise each would be a
 * separate paint layer.
 */
export const diffShadowStyles = `
:host { --diffs-font-fallback: var(--font-mono); --diffs-font-size: 12px; --diffs-line-height: 20px; }
[data-code], pre { letter-spacing: -0.012em; font-variant-ligatures: none; font-feature-settings: 'calt' 0, 'zero' 1; }
[data-column-number], [data-gutter-buffer] { font-size: 11px; color: var(--text-3); letter-spacing: 0; }
[data-column-number] [data-line-number-content] { min-width: 3ch; }
[data-line][data-line-type='change-addition'], [data-no-newline][data-line-type='change-addition'] { --diffs-computed-diff-line-bg: var(--add-bg); }
[data-line][data-line-type='change-deletion'], [data-no-newline][data-line-type='change-deletion'] { --diffs-computed-diff-line-bg: var(--del-bg); }
[data-column-number][data-line-type='change-addition'], [data-gutter-buffer][data-line-type='change-addition'] { --diffs-computed-diff-line-bg: var(--add-gutter); color: var(--text-3); }
[data-column-number][data-line-type='change-deletion'], [data-gutter-buffer][data-line-type='change-deletion'] { --diffs-computed-diff-line-bg: var(--del-gutter); color: var(--text-3); }
[data-indicators=classic] [data-line] { padding-inline-start: 22px; }
[data-line], [data-line-number-content] { position: static; }
[data-indicators=classic] [data-line]::before { position: static !important; float: inline-start; width: 14px !important; margin-inline-start: -14px; color: var(--text-2) !important; }
[data-indicators=classic] [data-line-type='change-deletion'][data-line]::before { content: '\\2212'; }
[data-diff-span] { border-radius: 2px; }
[data-separator=line-info-basic] { height: 20px; }
[data-separator] { font-size: 12px; border-block: 1px solid var(--line); box-sizing: border-box; }
[data-separator-first] { border-top: 0; }
[data-diff-type=split] [data-deletions] [data-content] { border-right-color: var(--line); }
`
