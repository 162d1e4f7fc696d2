import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'

test('shows a task’s prompt, and tries, saves and discards a template', async () => {
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const page = await browser.newPage(checkedPage)
  page.setDefaultTimeout(80_000)
  await page.goto(service.url)
  await page.getByRole('button', { name: /demo project/i }).click()
  const card = page.locator('[data-card]').filter({ hasText: 'Greet by the time of day' })
  await page.getByRole('region', { name: /^Done/ }).locator('[data-card]').waitFor()

  await page.evaluate(() => (location.hash = '#/settings/prompts'))
  const template = page.getByRole('textbox', { name: /^Template/ })
  await template.waitFor()
  expect(await template.inputValue()).toContain('## How to work')
  await template.fill('Hello {{nobody}}')
  await page.getByText('{{nobody}} stands for nothing').waitFor()
  await template.fill('Work as {{role}} and be brief.')
  await page.getByText('Work as coder and be brief.').waitFor()
  expect(await violationsInThemes(page), 'settings').toEqual([])
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Restore built-in template' }).waitFor()

  await page.goBack()
  await card.click()
  await page.getByRole('tab', { name: /^Overview/ }).click()
  await page.getByText('Prompt preview').click()
  const parts = page.getByRole('group', { name: 'Template' })
  await parts.getByText('Work as coder and be brief.').waitFor()
  expect(await page.getByRole('group', { name: 'The task' }).innerText()).toContain('# Greet by the time of day')
  expect(await violationsInThemes(page), 'task').toEqual([])
  // The earlier run did not use the new template.
  await page
    .getByLabel('Told to whom')
    .selectOption({ index: (await page.getByLabel('Told to whom').locator('option').count()) - 1 })
  await parts.getByText('You are in a git worktree of your own').waitFor()

  await page.evaluate(() => (location.hash = '#/settings/prompts'))
  await page.getByRole('button', { name: 'Restore built-in template' }).click()
  await page.getByLabel('Template, built in').waitFor()
  expect(await page.getByLabel('Template, built in').inputValue()).toContain('## How to work')
})
