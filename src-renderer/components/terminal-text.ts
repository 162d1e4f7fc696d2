type TerminalTone = 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan'
interface TerminalSpan {
  readonly text: string
  readonly tone: TerminalTone | null
  readonly bold: boolean
}
export type TerminalLine = readonly TerminalSpan[]

interface Style {
  tone: TerminalTone | null
  bold: boolean
}

const tones: Readonly<Record<number, TerminalTone>> = {
  30: 'dim',
  31: 'red',
  32: 'green',
  33: 'yellow',
  34: 'blue',
  35: 'magenta',
  36: 'cyan',
  90: 'dim',
  91: 'red',
  92: 'green',
  93: 'yellow',
  94: 'blue',
  95: 'magenta',
  96: 'cyan',
}

// CSI, OSC (to BEL or ST) and two-character escapes. Only CSI … m is kept, as a style.
const escapes = /\u001b(?:\[([0-9;:?]*)([ -/]*[@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g
// Includes characters that change the direction of text, which could make a line read differently.
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/**
 * Parses a program's output into the lines that a terminal would leave on screen: colours become
 * tones, a carriage return restarts its line, other escape sequences are dropped. Colours continue
 * on the next line.
 */
export function parseTerminalText(text: string): TerminalLine[] {
  const style: Style = { tone: null, bold: false }
  return text.split(/\r?\n/).map((line) => parseLine(afterLastReturn(line), style))
}

/** Returns the output without colours and control characters, so that pasting it into a terminal is harmless. */
export function plainTerminalText(text: string): string {
  return parseTerminalText(text)
    .map((line) => line.map((span) => span.text).join(''))
    .join('\n')
}

/**
 * Returns the text after the last carriage return: a progress bar rewrites its line, and only its
 * last state matters.
 */
function afterLastReturn(line: string): string {
  const trimmed = line.endsWith('\r') ? line.slice(0, -1) : line
  const at = trimmed.lastIndexOf('\r')
  return at < 0 ? trimmed : trimmed.slice(at + 1)
}

function parseLine(line: string, style: Style): TerminalLine {
  const spans: TerminalSpan[] = []
  let from = 0
  const push = (piece: string) => {
    const clean = piece.replace(controls, '')
    if (clean !== '') spans.push({ text: clean, tone: style.tone, bold: style.bold })
  }
  for (const match of line.matchAll(escapes)) {
    push(line.slice(from, match.index))
    from = match.index + match[0].length
    if (match[2] === 'm') applyStyle(style, match[1] ?? '')
  }
  push(line.slice(from))
  return spans
}

function applyStyle(style: Style, parameters: string): void {
  const codes = parameters.split(/[;:]/).map((code) => Number(code || '0'))
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0
    if (code === 38 || code === 48) {
      // Palette and true colours are not shown; their arguments are not codes.
      at += codes[at + 1] === 2 ? 4 : 2
    } else if (code === 0) Object.assign(style, { tone: null, bold: false })
    else if (code === 1) style.bold = true
    else if (code === 2) style.tone = 'dim'
    else if (code === 22) {
      style.bold = false
      if (style.tone === 'dim') style.tone = null
    } else if (code === 39) style.tone = null
    else style.tone = tones[code] ?? style.tone
  }
}
