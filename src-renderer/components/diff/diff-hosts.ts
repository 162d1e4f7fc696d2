import type { DiffAnnotation } from './diff-notes.ts'

/** Keeps one element per note and removes the others; returns the new ones. */
export function followHosts(hosts: Map<string, HTMLElement>, notes: readonly DiffAnnotation[]): string[] {
  const kept = new Set(notes.map(({ key }) => key))
  for (const key of hosts.keys()) if (!kept.has(key)) hosts.delete(key)
  const added = [...kept].filter((key) => !hosts.has(key))
  for (const key of added) hosts.set(key, document.createElement('div'))
  return added
}

/** The field of a note that wants to be written in. It could not take the focus before the viewer had put it there. */
export function focusIn(host: HTMLElement): void {
  host.querySelector<HTMLElement>('[data-autofocus]')?.focus({ preventScroll: true })
}

/** The viewer moves bars and notes when it draws a file anew; who is in one stays there, or where it went, in the lines. */
export function keepFocus(root: HTMLElement | undefined, work: () => void): void {
  const focused = document.activeElement
  const isInside = focused instanceof HTMLElement && root !== undefined && root !== focused && root.contains(focused)
  work()
  if (!isInside) return
  requestAnimationFrame(() => {
    if (document.activeElement === document.body) (focused.isConnected ? focused : root).focus({ preventScroll: true })
  })
}

/** The button that the viewer puts beside the line under the pointer; keys comment with Enter. */
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
