import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Opens a page for axe: its own policy forbids foreign scripts, and nothing may be half faded in. */
export const checkedPage = {
  viewport: { width: 1440, height: 900 },
  bypassCSP: true,
  reducedMotion: 'reduce',
} as const

/** Returns axe's findings on the page: rule, place and text of each. Checks everything without `rules`. */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(source)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  return page.evaluate<string[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => [id, 'at', ...target, html.slice(0, 200)].join(' '))))`,
  )
}

/** The same for both themes; only colours differ in the dark one. Leaves the page in the light one. */
export async function violationsInThemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await violations(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await violations(page, ['color-contrast'])
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark.map((one) => `dark: ${one}`)]
}
