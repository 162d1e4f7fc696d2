/** What does something at once when it is pressed. */
const controls = 'a, button, summary, [role="menuitem"], [role="option"]'

const controlAt = ({ target }: Event): Element | null =>
  target instanceof Element && target.shadowRoot === null ? target.closest(controls) : null

/**
 * Keeps one press from being two: the second click of a double click, and a key that is held, from what the first has
 * put in its place. That may be the answer to a question that nobody has read, or the same button of the next row.
 * Two clicks on one button stay two.
 */
export function ignoreRepeatedPresses(page: Document): void {
  const refuse = (event: Event): void => {
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  let first: Element | null = null
  const onClick = (event: MouseEvent): void => {
    const control = controlAt(event)
    // 0 by keyboard, or by the page itself.
    if (event.detail === 1) first = control
    else if (event.detail > 1 && control !== null && control !== first) refuse(event)
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.repeat && (event.key === 'Enter' || event.key === ' ') && controlAt(event) !== null) refuse(event)
  }
  page.addEventListener('click', onClick, { capture: true })
  page.addEventListener('keydown', onKey, { capture: true })
}
