import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** How a page is opened that axe looks at: its own policy lets no foreign script in, and nothing may be half faded in. */
export const checkedPage = {
  viewport: { width: 1440, height: 900 },
  bypassCSP: true,
  reducedMotion: 'reduce',
} as const

/** What axe finds on the page: rule, place and text of each. Without `rules` it looks for everything. */
export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate<boolean>(`'axe' in globalThis`))) await page.evaluate(source)
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  return page.evaluate<string[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.flatMap(({ id, nodes }) => nodes.map(({ target, html }) => [id, 'at', ...target, html.slice(0, 200)].join(' '))))`,
  )
}

/** The same of a page as it is in both themes; in the dark one only the colours are others. It is left in the light one. */
export async function violationsInThemes(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' })
  const light = await violations(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await violations(page, ['color-contrast'])
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark.map((one) => `dark: ${one}`)]
}
