/** What does something at once when it is clicked. */
const controls = 'a, button, summary, [role="menuitem"], [role="option"]'

const controlAt = ({ target }: Event): Element | null =>
  target instanceof Element && target.shadowRoot === null ? target.closest(controls) : null

/**
 * Keeps the second click of a double click from what the first has put under the pointer: the answer to a question
 * that nobody has read, the same button of the next row. Twice on one button stays twice, as do keys.
 */
export function guardSecondClicks(page: Document): void {
  let first: Element | null = null
  page.addEventListener(
    'click',
    (event) => {
      const control = controlAt(event)
      // 0 by keyboard, or by the page itself.
      if (event.detail === 1) first = control
      else if (event.detail > 1 && control !== null && control !== first) {
        event.preventDefault()
        event.stopImmediatePropagation()
      }
    },
    { capture: true },
  )
}
