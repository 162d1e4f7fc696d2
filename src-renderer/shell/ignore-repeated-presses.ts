/** Selects the controls that act as soon as they are pressed. */
const controls = 'a, button, summary, [role="menuitem"], [role="option"]'

const controlAt = ({ target }: Event): Element | null =>
  target instanceof Element && target.shadowRoot === null ? target.closest(controls) : null

/**
 * Ignores the second click of a double click and repeats of a held key on a control that has
 * replaced the first one: an unread question's answer, or the same button of the next row. Two
 * clicks on the same button stay two.
 */
export function ignoreRepeatedPresses(page: Document): void {
  const refuse = (event: Event): void => {
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  let first: Element | null = null
  const onClick = (event: MouseEvent): void => {
    const control = controlAt(event)
    // `detail` is 0 for clicks by keyboard or script.
    if (event.detail === 1) first = control
    else if (event.detail > 1 && control !== null && control !== first) refuse(event)
  }
  const onKey = (event: KeyboardEvent): void => {
    if (event.repeat && (event.key === 'Enter' || event.key === ' ') && controlAt(event) !== null) refuse(event)
  }
  page.addEventListener('click', onClick, { capture: true })
  page.addEventListener('keydown', onKey, { capture: true })
}
