import type { DiffAnnotation } from './diff-notes.ts'

/** Keeps one element per note and removes the others; returns the keys of new ones. */
export function followHosts(hosts: Map<string, HTMLElement>, notes: readonly DiffAnnotation[]): string[] {
  const kept = new Set(notes.map(({ key }) => key))
  for (const key of hosts.keys()) if (!kept.has(key)) hosts.delete(key)
  const added = [...kept].filter((key) => !hosts.has(key))
  for (const key of added) hosts.set(key, document.createElement('div'))
  return added
}

/** Focuses the field of a new note. Must run after the viewer has inserted it. */
export function focusIn(host: HTMLElement): void {
  host.querySelector<HTMLElement>('[data-autofocus]')?.focus({ preventScroll: true })
}

/**
 * Keeps the focus while the viewer redraws a file, which moves headers and notes. If the focused
 * element disappears, the lines get the focus.
 */
export function keepFocus(root: HTMLElement | undefined, work: () => void): void {
  const focused = document.activeElement
  const isInside = focused instanceof HTMLElement && root !== undefined && root !== focused && root.contains(focused)
  work()
  if (!isInside) return
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) (focused.isConnected ? focused : root).focus({ preventScroll: true })
  })
}

/** Creates the button beside the line under the pointer; Enter does the same by keyboard. */
export function addButton(onClick: () => void): HTMLElement {
  const button = document.createElement('button')
  button.addEventListener('click', onClick)
  button.type = 'button'
  button.className = 'add-note'
  button.tabIndex = -1
  button.title = 'Comment on this line (Enter)'
  button.setAttribute('aria-label', 'Comment on this line')
  button.textContent = '+'
  return button
}
