import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

type Finder = 'getByRole' | 'getByText' | 'getByLabel' | 'getByTitle' | 'locator' | 'filter'
type Look = 'waitFor' | 'textContent' | 'allTextContents' | 'inputValue' | 'getAttribute' | 'count' | 'isVisible'

/** Something on the page that can be seen, but not clicked, filled or focused. */
export type Sight = Pick<Locator, Look> & {
  readonly [F in Finder]: (...args: Parameters<Locator[F]>) => Sight
} & { first(): Sight; last(): Sight; nth(index: number): Sight }

/** A page for a person without a pointer: it is seen, and keys are pressed. */
export interface Keyboard {
  readonly see: { readonly [F in Exclude<Finder, 'filter'>]: (...args: Parameters<Page[F]>) => Sight }
  /** Keys one after the other: `press('g', 'i')`. */
  press(...keys: readonly string[]): Promise<void>
  /** Holds a key until it repeats once where the focus is by then. */
  hold(key: string, until: Sight): Promise<void>
  /** Types where the focus is. */
  type(text: string): Promise<void>
  /** Replaces the text of the focused field. */
  retype(text: string): Promise<void>
  /** Presses Tab (or the given key) until the target has the focus. */
  to(target: Sight, by?: 'Tab' | 'Shift+Tab' | 'ArrowDown' | 'ArrowRight'): Promise<void>
  /** Moves there, and presses Enter as soon as that is possible. */
  use(target: Sight, by?: 'Tab' | 'Shift+Tab'): Promise<void>
  /** Waits until the focus is on or within the target. */
  on(target: Sight): Promise<void>
  /** Waits until the focus is somewhere, because a closing part returns it. */
  keptFocus(): Promise<void>
  address(): string
}

/** More stops than any screen has. */
const stops = 250
/** Restricts the page to its keys. */
export function keyboardOf(page: Page): Keyboard {
  const press = async (...keys: readonly string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  /** `true` if it or something within it has the focus; else the focused element. */
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
    await expect.poll(() => focus(target, true), { timeout: 80_000 }).toBe(true)
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
      // A briefly disabled button keeps the focus, and takes no key.
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
