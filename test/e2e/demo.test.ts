import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const steps = (page: Page) => page.getByRole('region', { name: 'Try the demo' })
const step = (page: Page, name: RegExp) => steps(page).getByRole('button', { name })
const ticked = (page: Page, name: string) => step(page, new RegExp(`^${name} \\(done\\)`)).waitFor()

test('leads a newcomer through the demo by what the screen says', async () => {
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, panel } = await openLocally(await browser.newPage(checkedPage), service)
  await page.getByRole('button', { name: /demo project/i }).click()
  const begun = performance.now()
  await steps(page).getByText('Press 1 or 2 on its card').waitFor()
  expect(await violationsInThemes(page), 'demo').toEqual([])

  const asking = page.locator('[data-card]').filter({ hasText: 'Show the currency of prices' })
  await asking.focus()
  // An answer that comes before the question could be read is none.
  await page.getByRole('button', { name: /Euro/, disabled: false }).waitFor()
  await asking.press('1')
  await ticked(page, 'Answer the question')

  await steps(page).getByText('DEBUG line').waitFor()
  await step(page, /^Comment/).click()
  // The files are shown until the chapters are there.
  await panel.getByText(/^Chapter 1 of/).waitFor()
  const line = panel.getByText('DEBUG: total is now').first()
  await line.hover()
  await panel.getByRole('button', { name: 'Comment on this line' }).click()
  await panel.getByRole('textbox', { name: /^Comment on line/ }).fill('This line is not for customers.')
  await page.keyboard.press('Control+Shift+Enter')
  await page.getByRole('button', { name: /^Send 1 comment/ }).click()
  await ticked(page, 'Comment on a line')

  await step(page, /conflict/).click()
  await panel
    .getByRole('button', { name: /resolve/ })
    .first()
    .click()
  await ticked(page, 'Let the agent resolve a conflict')

  await step(page, /^Merge/).click()
  await panel
    .getByRole('button', { name: /^Merge into main/ })
    .first()
    .click()
  await ticked(page, 'Merge one')
  await steps(page).getByText('That was all').waitFor()
  expect(performance.now() - begun).toBeLessThan(120_000)

  // The steps stay after a reload, until they are not wanted.
  await page.reload()
  await steps(page).getByText('That was all').waitFor()
  await steps(page).getByRole('button', { name: /^Hide/ }).click()
  await steps(page).waitFor({ state: 'detached' })
})
