import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violations } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const card = (page: Page, title: string) => page.locator('[data-card]').filter({ hasText: title })
const rail = (page: Page) => page.getByRole('navigation', { name: 'Main' })
const toast = (page: Page, text: RegExp) => page.locator('[data-sonner-toast]').filter({ hasText: text })
const titles = (page: Page) => page.locator('[data-card]').allTextContents()

test('lists, sorts, filters, assigns, cancels and archives tasks, in one project and in all', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel } = await openLocally(await browser.newPage(checkedPage), service)
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
  // The list by pointer: sorted by its heads, and back by keyboard.
  await page.getByRole('button', { name: 'List' }).click()
  const table = page.getByRole('table')
  await table.getByRole('button', { name: 'Title' }).click()
  // Tasks with an agent come first; within a state the head sorts.
  await expect.poll(async () => (await titles(page)).slice(0, 2)).toEqual(['Delta, breaks', 'Alpha, low'])
  await table.getByRole('button', { name: 'Title' }).click()
  await table.locator('th[aria-sort="descending"]').filter({ hasText: 'Title' }).waitFor()
  await expect.poll(async () => (await titles(page)).slice(0, 2)).toEqual(['Delta, breaks', 'Gamma, a part'])
  expect(await violations(page), 'list').toEqual([])
  await card(page, 'Gamma').focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await panel.waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+b')
  await page.getByRole('region', { name: 'Board' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: /Find a task/ }).fill('>board and list')
  await page.keyboard.press('Enter')
  await table.waitFor()

  // A filter by keyboard and a search combine; both are restored after another project.
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
  // The keyboard returns to the card that had the focus.
  await card(page, 'Gamma').focus()
  await rail(page).getByText('Lantern').click()
  await card(page, 'Of the other').waitFor()
  await rail(page).getByText('Ferry').click()
  await page.locator('[data-card][tabindex="0"]').filter({ hasText: 'Gamma' }).waitFor()

  await putInOrder(page)
  await useActions(page)

  // All projects: one board, whose cards name their project, and a task beside it.
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await card(page, 'Of the other').getByText('Lantern').waitFor()
  expect(await violations(page), 'all projects').toEqual([])
  // A project created elsewhere appears too, with its tasks.
  const late = await client.call('projects.create', { name: 'Mole', repo_path: repository.path })
  await client.call('tasks.create', { project_id: late.id, title: 'Of the newest', status: 'todo' })
  await card(page, 'Of the newest').waitFor()
  await card(page, 'Of the other').click()
  await panel.getByRole('heading', { name: 'Of the other' }).waitFor()
  expect(page.url()).toContain('#/all/t/')
  // A key sequence ends with its second key; the next key is its own, even while the panel opens.
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await panel.waitFor({ state: 'detached' })
  await card(page, 'Of the other').click()
  await page.keyboard.press('a')
  await page.getByRole('dialog', { name: 'Assign' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Assign' }).waitFor({ state: 'detached' })
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'New task' })
  await dialog.getByRole('button', { name: /^Project: / }).click()
  await page.getByRole('menuitem', { name: 'Lantern' }).click()
  await dialog.getByLabel('Title').fill('Written from above')
  await dialog.getByLabel('Add a label').fill('fresh')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Control+Enter')
  await card(page, 'Written from above').getByText('Lantern').waitFor()
  await card(page, 'Written from above').getByText('fresh').waitFor()
})

/** The columns: parts, blocked tasks, and the last fifty finished ones with a link to all. */
async function seeColumns(page: Page): Promise<void> {
  await card(page, 'Alpha').getByText('0/1').waitFor()
  await card(page, 'Delta')
    .getByText(/exit 7/)
    .waitFor()
  const done = page.getByRole('region', { name: 'Done, 51 tasks' })
  await expect.poll(() => done.locator('[data-card]').count()).toBe(50)
  await done.getByRole('button', { name: 'Show all 51' }).click()
  await page.getByText('51 of 55 tasks').waitFor()
  await page.getByRole('table').waitFor()
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('button', { name: 'Board' }).click()
  await done.hover()
  await done.getByRole('button', { name: 'Collapse Done' }).click()
  await page.getByRole('button', { name: /51 Done/ }).click()
}

/** Runs `work` while no frame is drawn, as far as the page's own scripts can tell. */
async function betweenFrames(page: Page, work: () => Promise<void>): Promise<void> {
  const given = await page.evaluateHandle(() => {
    const { requestAnimationFrame } = window
    window.requestAnimationFrame = () => 0
    return requestAnimationFrame
  })
  await work()
  await page.evaluate((original) => (window.requestAnimationFrame = original), given)
}

/** Cards are sorted by pointer and keys, or by their fields. */
async function putInOrder(page: Page): Promise<void> {
  const todo = page.getByRole('region', { name: /^To do/ })
  const order = async () =>
    (await todo.locator('[data-card] .ttl').allTextContents()).map((title) => title.split(',')[0])
  await expect.poll(order).toEqual(['Gamma', 'Beta', 'Alpha'])
  await card(page, 'Alpha').focus()
  await page.keyboard.press('Alt+ArrowUp')
  await expect.poll(order).toEqual(['Gamma', 'Alpha', 'Beta'])
  await page.keyboard.press('Alt+ArrowUp')
  await page.keyboard.press('Alt+ArrowDown')
  await expect.poll(order).toEqual(['Gamma', 'Alpha', 'Beta'])
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Alpha')
  const gamma = await card(page, 'Gamma').boundingBox()
  const beta = await card(page, 'Beta').boundingBox()
  if (!gamma || !beta) throw new Error('A card is not in the page.')
  await page.mouse.move(beta.x + 40, beta.y + 20)
  await page.mouse.down()
  await page.mouse.move(gamma.x + 40, gamma.y + 50, { steps: 4 })
  await page.mouse.move(gamma.x + 40, gamma.y + 30, { steps: 4 })
  await todo.locator('.line').waitFor()
  await betweenFrames(page, async () => {
    await page.mouse.move(gamma.x + 40, gamma.y + 4)
    await page.mouse.up()
  })
  await expect.poll(order).toEqual(['Beta', 'Gamma', 'Alpha'])
  await page.reload()
  await expect.poll(order).toEqual(['Beta', 'Gamma', 'Alpha'])

  const by = async (now: RegExp, next: string) => {
    await page.getByRole('button', { name: now }).click()
    await page.getByRole('menuitem', { name: next }).click()
  }
  await by(/^Cards by hand/, 'By priority')
  await expect.poll(order).toEqual(['Beta', 'Alpha', 'Gamma'])
  await card(page, 'Alpha').focus()
  await page.keyboard.press('Alt+ArrowUp')
  await toast(page, /Order the board by hand first/).waitFor()
  await by(/^Cards by priority/, 'By hand')
  await expect.poll(order).toEqual(['Beta', 'Gamma', 'Alpha'])
}

/** Actions on a card, by menu and keys, and their undo. */
async function useActions(page: Page): Promise<void> {
  await card(page, 'Alpha').click({ button: 'right' })
  await page.getByRole('menuitem', { name: /^Stop/ }).getByText('No agent is running').waitFor()
  await page.getByRole('menuitem', { name: /^Assign/ }).click()
  const assign = page.getByRole('dialog', { name: 'Assign' })
  expect(await violations(page), 'assign').toEqual([])
  await assign.getByRole('button', { name: 'Coder' }).click()
  await assign.getByRole('button', { name: /Breaks/ }).click()
  await card(page, 'Alpha').getByRole('img', { name: 'Breaks' }).waitFor()
  await card(page, 'Beta').focus()
  await page.keyboard.press('x')
  const notice = toast(page, /^“Beta, urgent”: No agent is running\.$/)
  await notice.waitFor()
  // It lies beside the rail, or above the bar of a phone, which may be needed while it is shown.
  const rail = page.getByRole('navigation', { name: 'Main' })
  const isClear = async () => {
    const [over, under] = [await notice.boundingBox(), await rail.boundingBox()]
    return over && under && (over.x >= under.x + under.width || over.y + over.height <= under.y)
  }
  for (const width of [360, 1024, 1440]) {
    await page.setViewportSize({ width, height: 900 })
    await expect.poll(isClear, { message: `at ${width}` }).toBe(true)
  }
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
  // The task's head offers the same undo.
  await card(page, 'Beta').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: /^State: To do/ }).click()
  await page.getByRole('menuitem', { name: /cancel/i }).click()
  await done.filter({ has: card(page, 'Beta') }).waitFor()
  await toast(page, /^Cancelled /)
    .getByRole('button', { name: 'Undo' })
    .click()
  await page
    .getByRole('region', { name: /^To do/ })
    .filter({ has: card(page, 'Beta') })
    .waitFor()
  await page.getByRole('button', { name: 'Close', exact: true }).click()
  await toast(page, /^Cancelled /).waitFor({ state: 'detached' })
  await cancel()
  // The cancellation is final once the time for undo is over, and the task can be archived.
  await toast(page, /^Cancelled /).waitFor({ state: 'detached' })
  await card(page, 'Beta').click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Archive' }).click()
  await card(page, 'Beta').waitFor({ state: 'detached' })
  await toast(page, /^Archived /)
    .getByRole('button', { name: 'Undo' })
    .click()
  await card(page, 'Beta').waitFor()
}
