import { FitAddon } from '@xterm/addon-fit'
import { Terminal, type ITheme } from '@xterm/xterm'

/** About 10 MB: 12 bytes a cell, 80 cells a line. */
const scrollback = 10_000

/**
 * Opens a terminal in `element` with the colors and font of the page; returns it with its fit
 * addon. `real`: the output was written to a terminal.
 */
export function openTerminal(
  element: HTMLElement,
  real: boolean,
): { readonly terminal: Terminal; readonly fit: () => void } {
  const style = getComputedStyle(element)
  const terminal = new Terminal({
    scrollback,
    // Output of pipes has no carriage returns.
    convertEol: !real,
    screenReaderMode: true,
    fontFamily: style.getPropertyValue('--font-mono').trim() || 'monospace',
    fontSize: 12,
    lineHeight: 1.35,
    minimumContrastRatio: 4.5,
    theme: terminalTheme(element),
  })
  const addon = new FitAddon()
  terminal.loadAddon(addon)
  terminal.open(element)
  return {
    terminal,
    fit: () => {
      addon.fit()
    },
  }
}

/** Returns the terminal theme from the color tokens of the page. */
export function terminalTheme(element: HTMLElement): ITheme {
  // A token holds a color per scheme, which only resolves in a color property.
  const probe = element.appendChild(document.createElement('i'))
  const token = (name: string) => {
    probe.style.color = `var(--${name})`
    return getComputedStyle(probe).color
  }
  const red = token('fail')
  const green = token('ok')
  const yellow = token('warn')
  const blue = token('run')
  const magenta = token('you')
  const cyan = token('sx-type')
  const theme = {
    background: token('sunken'),
    foreground: token('text'),
    cursor: token('accent'),
    cursorAccent: token('sunken'),
    selectionBackground: token('accent-soft'),
    black: token('line-strong'),
    white: token('text-2'),
    red,
    green,
    yellow,
    blue,
    magenta,
    cyan,
    brightBlack: token('text-3'),
    brightWhite: token('text'),
    brightRed: red,
    brightGreen: green,
    brightYellow: yellow,
    brightBlue: blue,
    brightMagenta: magenta,
    brightCyan: cyan,
  } as ITheme
  probe.remove()
  return theme
}
