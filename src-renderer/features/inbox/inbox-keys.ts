/** What a key means in the inbox. */
export type InboxCommand =
  | { readonly kind: 'to'; readonly index: number }
  | { readonly kind: 'open'; readonly tab: string | null }
  | { readonly kind: 'toggle' }
  | { readonly kind: 'delete' }

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>

const page = 10
const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  j: 1,
  ArrowUp: -1,
  k: -1,
  PageDown: page,
  PageUp: -page,
  Home: -Infinity,
  End: Infinity,
}
const deeds: Readonly<Record<string, InboxCommand>> = {
  Enter: { kind: 'open', tab: null },
  d: { kind: 'open', tab: 'changes' },
  r: { kind: 'open', tab: 'review' },
  u: { kind: 'toggle' },
  Delete: { kind: 'delete' },
  Backspace: { kind: 'delete' },
}

/** The command of a key while the list has the focus, with `at` of `count` rows selected; null where it has none. */
export function inboxCommand(event: Pressed, at: number, count: number): InboxCommand | null {
  if (event.ctrlKey || event.metaKey || event.altKey || count === 0) return null
  const step = steps[event.key]
  if (step === undefined) return deeds[event.key] ?? null
  return { kind: 'to', index: Math.min(count - 1, Math.max(0, at + step)) }
}
