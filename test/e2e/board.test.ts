import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { violations } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const pageOptions = { viewport: { width: 1440, height: 900 }, bypassCSP: true, reducedMotion: 'reduce' } as const
const card = (page: Page, title: string) => page.locator('[data-card]').filter({ hasText: title })
const rail = (page: Page) => page.getByRole('navigation', { name: 'Main' })
const toast = (page: Page, text: RegExp) => page.locator('[data-sonner-toast]').filter({ hasText: text })
const titles = (page: Page) => page.locator('[data-card]').allTextContents()

test('tasks are listed, sorted, narrowed, assigned, cancelled and archived, in one project and in all', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel } = await openLocally(await browser.newPage(pageOptions), service)
  const ferry = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const other = await client.call('projects.create', { name: 'Lantern', repo_path: repository.path })
  const agent = { executor: 'command', config: { command: 'exit 7' } } as const
  const { id: agentId } = await client.call('agents.create', { name: 'Breaks', ...agent })
  const make = (title: string, more: { labels?: string[]; priority?: number; parent_id?: string } = {}) =>
    client.call('tasks.create', { project_id: ferry.id, title, status: 'todo', ...more })
  const low = await make('Alpha, low', { priority: 1, labels: ['docs'] })
  await make('Beta, urgent', { priority: 4, labels: ['docs', 'store'] })
  await make('Gamma, a part', { parent_id: low.id })
  const broken = await make('Delta, breaks')
  await client.call('tasks.claim', { task_id: broken.id, agent_id: agentId })
  await client.call('tasks.create', { project_id: other.id, title: 'Of the other', status: 'todo' })
  const ended = await Promise.all(Array.from({ length: 51 }, (_, index) => make(`Ended ${index}`)))
  for (const { id } of ended) await client.call('tasks.cancel', { task_id: id })
  await page.reload()
  await rail(page).getByText('Ferry').click()

  await seeColumns(page)
  // The list, by the pointer: sorted by what its heads say, and back by the keyboard.
  await page.getByRole('button', { name: 'List' }).click()
  const table = page.getByRole('table')
  await table.getByRole('button', { name: 'Title' }).click()
  await expect.poll(async () => (await titles(page))[0]).toBe('Alpha, low')
  await table.getByRole('button', { name: 'Title' }).click()
  await table.locator('th[aria-sort="descending"]').filter({ hasText: 'Title' }).waitFor()
  await expect.poll(async () => (await titles(page))[0]).toBe('Gamma, a part')
  expect(await violations(page), 'list').toEqual([])
  await card(page, 'Gamma').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await panel.waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+b')
  await page.getByRole('region', { name: 'Board' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: /Find a task/ }).fill('>board or list')
  await page.keyboard.press('Enter')
  await table.waitFor()

  // A filter by the keyboard and a search combine; both are there again after another project.
  await page.keyboard.press('Shift+F')
  await page.getByRole('textbox', { name: 'Find a filter' }).fill('label docs')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await expect.poll(() => titles(page)).toHaveLength(2)
  expect(await violations(page), 'filtered list').toEqual([])
  await page.keyboard.press('/')
  await page.keyboard.type('urgent')
  await expect.poll(() => titles(page)).toEqual(['Beta, urgent'])
  await rail(page).getByText('Lantern').click()
  await card(page, 'Of the other').waitFor()
  await rail(page).getByText('Ferry').click()
  await expect.poll(() => titles(page)).toEqual(['Beta, urgent'])
  await page.reload()
  await page.getByText('2 of 55 tasks').waitFor()
  await page.getByRole('button', { name: 'Remove the filter Label' }).click()
  await page.getByRole('group', { name: 'Filters' }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /^Needs you 1/ }).click()
  await expect.poll(() => titles(page)).toEqual(['Delta, breaks'])
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('button', { name: 'Board' }).click()

  await useActions(page)

  // All projects: one board, whose cards say where they belong, and a task beside it.
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await card(page, 'Of the other').getByText('Lantern').waitFor()
  expect(await violations(page), 'all projects').toEqual([])
  await card(page, 'Of the other').click()
  await panel.getByRole('heading', { name: 'Of the other' }).waitFor()
  expect(page.url()).toContain('#/all/t/')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'New task' })
  await dialog.getByRole('button', { name: /^Project: / }).click()
  await page.getByRole('menuitem', { name: 'Lantern' }).click()
  await dialog.getByLabel('Title').fill('Written from above')
  await page.keyboard.press('Control+Enter')
  await card(page, 'Written from above').getByText('Lantern').waitFor()
})

/** What the columns say: parts, what holds a task, and the last fifty of what has ended with the way to all. */
async function seeColumns(page: Page): Promise<void> {
  await card(page, 'Alpha').getByText('0/1').waitFor()
  await card(page, 'Delta')
    .getByText(/exit code 7/)
    .waitFor()
  const done = page.getByRole('region', { name: 'Done, 51 tasks' })
  await expect.poll(() => done.locator('[data-card]').count()).toBe(50)
  await done.getByRole('button', { name: 'All 51 finished tasks' }).click()
  await page.getByText('51 of 55 tasks').waitFor()
  await page.getByRole('table').waitFor()
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('button', { name: 'Board' }).click()
  await done.hover()
  await done.getByRole('button', { name: 'Collapse Done' }).click()
  await page.getByRole('button', { name: /51 Done/ }).click()
}

/** What is done with a card, by its menu and by keys, and taken back. */
async function useActions(page: Page): Promise<void> {
  await card(page, 'Alpha').click({ button: 'right' })
  await page.getByRole('menuitem', { name: /^Stop/ }).getByText('Nothing is running').waitFor()
  await page.getByRole('menuitem', { name: /^Assign/ }).click()
  const assign = page.getByRole('dialog', { name: 'Assign' })
  expect(await violations(page), 'assign').toEqual([])
  await assign.getByRole('button', { name: 'Coder' }).click()
  await assign.getByRole('button', { name: /Breaks/ }).click()
  await card(page, 'Alpha').getByRole('img', { name: 'Breaks' }).waitFor()
  await card(page, 'Beta').focus()
  await page.keyboard.press('x')
  await toast(page, /^Nothing is running\.$/).waitFor()
  await page.keyboard.press('a')
  await assign.waitFor()
  await page.keyboard.press('Enter')
  await assign.waitFor({ state: 'detached' })
  await card(page, 'Beta').getByRole('img', { name: 'Breaks' }).waitFor()

  const done = page.getByRole('region', { name: /^Done/ })
  const cancel = async () => {
    await card(page, 'Beta').focus()
    await page.keyboard.press('.')
    await page.getByRole('menuitem', { name: 'Cancel task…' }).click()
    await done.filter({ has: card(page, 'Beta') }).waitFor()
  }
  await cancel()
  await toast(page, /is cancelled/)
    .getByRole('button', { name: 'Undo' })
    .click()
  await page
    .getByRole('region', { name: /^To do/ })
    .filter({ has: card(page, 'Beta') })
    .waitFor()
  await cancel()
  // It is cancelled for good once the time to take it back is up, and can be archived then.
  await toast(page, /is cancelled/).waitFor({ state: 'detached' })
  await card(page, 'Beta').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Archive' }).click()
  await card(page, 'Beta').waitFor({ state: 'detached' })
  await toast(page, /is archived/)
    .getByRole('button', { name: 'Undo' })
    .click()
  await card(page, 'Beta').waitFor()
}
