import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

type Finder = 'getByRole' | 'getByText' | 'getByLabel' | 'getByTitle' | 'locator' | 'filter'
type Look = 'waitFor' | 'textContent' | 'allTextContents' | 'inputValue' | 'getAttribute' | 'count' | 'isVisible'

/** Something on the page that can be looked at, but neither clicked nor filled nor focused. */
export type Sight = Pick<Locator, Look> & {
  readonly [F in Finder]: (...args: Parameters<Locator[F]>) => Sight
} & { first(): Sight; last(): Sight; nth(index: number): Sight }

/** A page for somebody who has no pointer: it is looked at, and keys are pressed. */
export interface Keyboard {
  readonly see: { readonly [F in Exclude<Finder, 'filter'>]: (...args: Parameters<Page[F]>) => Sight }
  /** Keys one after the other: `press('g', 'i')`. */
  press(...keys: readonly string[]): Promise<void>
  /** Holds a key until it is pressed once more, by itself, where the focus has gone meanwhile. */
  hold(key: string, until: Sight): Promise<void>
  /** Types where the focus is. */
  type(text: string): Promise<void>
  /** Instead of what the field holds that has the focus. */
  retype(text: string): Promise<void>
  /** Walks with Tab (or the key that is named) until the target has the focus. */
  to(target: Sight, by?: 'Tab' | 'Shift+Tab' | 'ArrowDown' | 'ArrowRight'): Promise<void>
  /** Walks there, and presses Enter as soon as it can be pressed. */
  use(target: Sight, by?: 'Tab' | 'Shift+Tab'): Promise<void>
  /** Waits until the focus is on or within the target. */
  on(target: Sight): Promise<void>
  /** Waits until the focus is somewhere: what closes gives it back. */
  keptFocus(): Promise<void>
  address(): string
}

/** More stops than any screen has. */
const stops = 250
/** The page, of which no more is to be had than its keys. */
export function keyboardOf(page: Page): Keyboard {
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  /** `true` where it has the focus, or something within it; else what has it. */
  const focus = (target: Sight, within = false) =>
    (target as Locator).evaluate((element, inside) => {
      const { activeElement } = element.ownerDocument
      if (element === activeElement || (inside && element.contains(activeElement))) return true
      return `${activeElement?.tagName} ${activeElement?.ariaLabel ?? activeElement?.textContent?.slice(0, 100)}`
    }, within)
  const to = async (target: Sight, by = 'Tab') => {
    await target.waitFor()
    for (let step = 0; step < stops; step++) {
      if ((await focus(target)) === true) return
      await page.keyboard.press(by)
    }
    throw new Error(`${by} does not lead to ${String(target)}`)
  }
  const on = async (target: Sight) => {
    await target.waitFor()
    await expect.poll(() => focus(target, true), { timeout: 15_000 }).toBe(true)
  }
  return {
    see: page,
    press,
    hold: async (key, until) => {
      await page.keyboard.down(key)
      await on(until)
      await page.keyboard.down(key)
      await page.keyboard.up(key)
    },
    to,
    type: (text) => page.keyboard.type(text),
    retype: async (text) => {
      await press('Control+a')
      await page.keyboard.type(text)
    },
    use: async (target, by = 'Tab') => {
      await to(target, by)
      // A button that is off for a moment keeps the focus, and takes no key.
      await expect.poll(() => (target as Locator).getAttribute('aria-disabled')).not.toBe('true')
      await page.keyboard.press('Enter')
    },
    on,
    keptFocus: () =>
      expect
        .poll(() => page.evaluate<string>('document.activeElement?.tagName ?? "nothing"'), { timeout: 5_000 })
        .not.toMatch(/^(BODY|HTML|nothing)$/),
    address: () => page.url(),
  }
}
