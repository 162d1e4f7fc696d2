import type { Page } from 'playwright-core'

/**
 * Finds visible parts of a page that can't be read or pressed: texts and controls cut off by a box without scrolling,
 * covered by another, or outside the window. Texts that end in an ellipsis are fine.
 */
export const cutOff = (page: Page): Promise<string[]> => page.evaluate(`(${look.toString()})()`)

/** Runs in the page. */
function look(): string[] {
  const isShown = (one: Element) => one.checkVisibility({ opacityProperty: true, visibilityProperty: true })
  const styleOf = (one: Element) => getComputedStyle(one)
  /** For screen readers only, or transparent to presses. */
  const isAside = (one: Element) => {
    for (let at: Element | null = one; at; at = at.parentElement) {
      const { clipPath, pointerEvents } = styleOf(at)
      if (clipPath !== 'none' || pointerEvents === 'none') return true
      if (at.matches('[inert], [aria-hidden="true"], svg, .sk')) return true
    }
    return false
  }
  const layers = '[role="dialog"], [role="menu"], [data-task-panel], [data-sonner-toaster], .bar[role="region"], .tip'
  const layerOf = (one: Element) => one.closest(layers)
  const isSticky = (one: Element): boolean => {
    for (let at: Element | null = one; at; at = at.parentElement) if (styleOf(at).position === 'sticky') return true
    return false
  }
  /** The part of a rectangle that its boxes leave, and whether the rest can be scrolled to. */
  function clip(from: Element | null, rect: DOMRect) {
    let { left, right, top, bottom } = rect
    let cut = 0
    for (let at = from; at; at = at.parentElement) {
      const { overflowX, overflowY, textOverflow, position } = styleOf(at)
      const box = at.getBoundingClientRect()
      if (overflowX !== 'visible') {
        const lost = Math.max(0, box.left - left) + Math.max(0, right - box.right)
        const scrolls = overflowX === 'auto' || overflowX === 'scroll'
        if (lost > 1 && !scrolls && textOverflow !== 'ellipsis') cut = Math.max(cut, lost)
        left = Math.max(left, box.left)
        right = Math.min(right, box.right)
      }
      if (overflowY !== 'visible') {
        top = Math.max(top, box.top)
        bottom = Math.min(bottom, box.bottom)
      }
      if (position === 'fixed') break
    }
    return { left, right, top, bottom, cut }
  }
  const found = new Set<string>()
  const nameOf = (one: Element) =>
    (one.getAttribute('aria-label') ?? one.textContent ?? '').trim().replace(/\s+/g, ' ').slice(0, 50) || one.tagName
  /** `from`: the innermost box that could cut it off. */
  function check(owner: Element, from: Element | null, rect: DOMRect, name: string): void {
    if (rect.width < 2 || rect.height < 2) return
    const seen = clip(from, rect)
    if (seen.cut > 3) found.add(`cut off by ${Math.round(seen.cut)} px: ${name}`)
    // Scrolled away, except for a sliver.
    if (seen.right - seen.left < 6 || seen.bottom - seen.top < 6) return
    if (seen.left < -1 || seen.right > innerWidth + 1) found.add(`outside of the window: ${name}`)
    const x = (Math.max(seen.left, 0) + Math.min(seen.right, innerWidth)) / 2
    const y = (Math.max(seen.top, 0) + Math.min(seen.bottom, innerHeight)) / 2
    for (const [px, py] of [
      [x, y],
      [seen.left + 2, y],
      [seen.right - 2, y],
    ] as const) {
      if (px < 0 || py < 0 || px >= innerWidth || py >= innerHeight || seen.top > innerHeight) continue
      const top = document.elementFromPoint(px, py)
      if (top === null || top === owner || top.contains(owner) || owner.contains(top)) continue
      // Parts that cover the page on purpose: dialogs, menus, the open task, sticky headings.
      if (layerOf(top) !== layerOf(owner) || isSticky(top)) continue
      const label = top.closest('label, button, a')
      if (label && (label === owner || label.contains(owner))) continue
      found.add(`under “${nameOf(top)}”: ${name}`)
      return
    }
  }
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = words.nextNode(); node; node = words.nextNode()) {
    const owner = node.parentElement
    if (!owner || (node.textContent ?? '').trim() === '' || !isShown(owner) || isAside(owner)) continue
    if (owner.closest('option, textarea, script, style, canvas, diffs-container')) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const rect of range.getClientRects()) check(owner, owner, rect, (node.textContent ?? '').trim().slice(0, 50))
  }
  for (const one of document.querySelectorAll('button, a[href], input, select, textarea')) {
    if (!isShown(one) || isAside(one)) continue
    const rect = one.getBoundingClientRect()
    check(one, one.parentElement, rect, nameOf(one))
    if (one.matches('input:not([type="checkbox"]), select, textarea') && rect.width < 40) {
      found.add(`too narrow to write in: ${nameOf(one)}`)
    }
  }
  return [...found]
}
