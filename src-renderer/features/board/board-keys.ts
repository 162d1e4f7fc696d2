import type { Direction } from './move-focus.ts'

/** What a key means on the board. */
export type BoardCommand =
  | { readonly kind: 'focus'; readonly to: Direction }
  | { readonly kind: 'open' | 'changes' | 'review' | 'menu' | 'move' | 'start' | 'stop' | 'new' | 'search' | 'back' }

const commands: Readonly<Record<string, BoardCommand>> = {
  ArrowLeft: { kind: 'focus', to: 'left' },
  ArrowRight: { kind: 'focus', to: 'right' },
  ArrowUp: { kind: 'focus', to: 'up' },
  ArrowDown: { kind: 'focus', to: 'down' },
  h: { kind: 'focus', to: 'left' },
  l: { kind: 'focus', to: 'right' },
  k: { kind: 'focus', to: 'up' },
  j: { kind: 'focus', to: 'down' },
  Enter: { kind: 'open' },
  d: { kind: 'changes' },
  r: { kind: 'review' },
  '.': { kind: 'menu' },
  m: { kind: 'move' },
  s: { kind: 'start' },
  x: { kind: 'stop' },
  c: { kind: 'new' },
  '/': { kind: 'search' },
  Escape: { kind: 'back' },
}
/** Keys that only mean something while a card has the focus. */
const cardKeys: readonly BoardCommand['kind'][] = ['open', 'changes', 'review', 'menu', 'move', 'start', 'stop']

interface Pressed {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
}

/** Reads a key press; null where it means nothing here. `on` says what has the focus. */
export function boardCommand(
  event: Pressed,
  on: 'card' | 'page' | 'control' | 'text' | 'overlay',
): BoardCommand | null {
  if (event.ctrlKey || event.metaKey || event.altKey || on === 'overlay' || on === 'text') return null
  const command = commands[event.key]
  if (!command) return null
  if (on !== 'card' && cardKeys.includes(command.kind)) return null
  if (on === 'control' && command.kind === 'focus' && event.key.startsWith('Arrow')) return null
  return command
}

/** What has the focus, as far as keys are concerned. */
export function focusKind(target: EventTarget | null): 'card' | 'page' | 'control' | 'text' | 'overlay' {
  if (!(target instanceof Element)) return 'page'
  if (target.closest('[role="dialog"], [role="menu"], [role="listbox"]')) return 'overlay'
  if (target.closest('input, textarea, select, [contenteditable="true"]')) return 'text'
  if (target.closest('[data-card]')) return 'card'
  return target.closest('button, a, summary, [tabindex]') ? 'control' : 'page'
}
