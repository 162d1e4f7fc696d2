/** The kind of element that has the focus, as far as shortcuts are concerned. */
export type FocusKind = 'card' | 'page' | 'control' | 'text' | 'overlay'

export function focusKind(target: EventTarget | null): FocusKind {
  if (!(target instanceof Element)) return 'page'
  if (target.closest('[role="dialog"], [role="menu"], [role="listbox"]')) return 'overlay'
  if (target.closest('input, textarea, select, [contenteditable="true"]')) return 'text'
  if (target.closest('[data-card]')) return 'card'
  return target.closest('button, a, summary, [tabindex]') ? 'control' : 'page'
}

/**
 * Returns whether the board handles `key` with the focus on `on`. `card` commands need a focused
 * card, `focus` commands move between cards, `page` commands concern the whole board.
 */
export function boardTakes(kind: 'card' | 'focus' | 'page', on: FocusKind, key: string): boolean {
  if (on === 'overlay' || on === 'text') return false
  if (kind === 'card') return on === 'card'
  return !(kind === 'focus' && on === 'control' && key.startsWith('Arrow'))
}
