import { access } from 'node:fs/promises'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository, type TestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { startDesktop } from './harness/electron-standin/start-desktop.ts'

/** The scripted agent's work; it waits for nothing, so that the tests are as fast as the app. */
const work = `head -c 0; echo "Reading the task"; printf 'export const sum = (...all: number[]) => all.reduce((a, b) => a + b, 0)\\n' > sum.ts; git add -A; git commit -qm "Sum any numbers"; echo "Committed"`
const files = { 'sum.ts': 'export const sum = (a: number, b: number) => a + b\n' }

test('goes by pointer in the web app from a folder to a merged task', async () => {
  await using repository = await createTestRepository({ files })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const page = await openPage(await browser.newPage({ viewport: { width: 1440, height: 900 } }))
  await page.goto(service.url)

  await page.getByLabel(/repository folder/i).fill(repository.path)
  await page.getByRole('button', { name: 'Open folder' }).click()
  await page.getByRole('button', { name: 'Add project' }).click()
  await addAgent(page)
  await page.getByRole('navigation', { name: 'Main' }).getByText('repository').click()

  await page
    .getByRole('button', { name: /^New task/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Title').fill('Sum any numbers')
  await dialog.getByRole('textbox', { name: 'Description' }).fill('`sum` shall take **any** number of numbers.')
  await dialog.getByRole('button', { name: 'Checks: none' }).click()
  await dialog.getByLabel(/^Checks/).fill('grep -q reduce sum.ts\necho all fine')
  await dialog.getByRole('button', { name: /create task/i }).click()

  const card = page.getByRole('region', { name: 'Board' }).getByText('Sum any numbers')
  await card.dragTo(column(page, 'In progress'))
  await page.getByRole('dialog').getByText('Scripted').click()
  await column(page, 'Review').getByText('Sum any numbers').click()

  const panel = page
    .getByRole('complementary', { name: 'Task' })
    .or(page.getByLabel('Task', { exact: true }))
    .first()
  await panel.getByRole('tab', { name: 'Agent' }).click()
  await panel.getByText('Committed').waitFor()
  await panel.getByRole('tab', { name: /Changes/ }).click()
  await panel.getByText('all.reduce').first().waitFor()
  await panel.getByRole('tab', { name: /Review/ }).click()
  await panel.getByText('grep -q reduce sum.ts').waitFor()
  await panel
    .getByRole('button', { name: /merge into main/i })
    .first()
    .click()
  await panel.getByText(/Merged into main/).waitFor()
  // What is shown of its worktree disappears with it.
  await panel.getByText(/\d+ ahead, \d+ behind/).waitFor({ state: 'detached' })
  await expectMerged(repository)
})

test('goes by keyboard in the desktop app from a new task to a merge', async () => {
  await using repository = await createTestRepository({ files })
  await using desktop = await startDesktop()
  desktop.answer('dialog.showOpenDialog', { canceled: false, filePaths: [repository.path] })
  const page = await openPage(desktop.page)
  await page
    .getByRole('button', { name: /choose|open folder/i })
    .first()
    .focus()
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Add project' }).waitFor()
  await page.getByRole('button', { name: 'Add project' }).focus()
  await page.keyboard.press('Enter')
  await column(page, 'To do').waitFor()
  // The agent exists already, as from an earlier day.
  await page.evaluate(
    `window.copse.call('agents.create', ${JSON.stringify({ name: 'Scripted', executor: 'command', config: { command: work } })})`,
  )

  await page.keyboard.press('c')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('Sum any numbers')
  await page.keyboard.press('Control+Enter')
  const board = page.getByRole('region', { name: 'Board' })
  await board.getByText('Sum any numbers').waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('s')
  await page.getByRole('dialog').getByText('Who should do this?').waitFor()
  await page.keyboard.press('Enter')
  await column(page, 'Review').getByText('Sum any numbers').waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('tab', { name: /Overview/ }).waitFor()
  await page.keyboard.press('d')
  await page.getByText('all.reduce').first().waitFor()
  await page.keyboard.press('Shift+M')
  await column(page, 'Done').getByText('Sum any numbers').waitFor()
  await expectMerged(repository)
})

/** A page whose every error fails the test. */
async function openPage(page: Page): Promise<Page> {
  page.setDefaultTimeout(80_000)
  page.on('pageerror', (error) => {
    throw error
  })
  return Promise.resolve(page)
}

function column(page: Page, name: string): Locator {
  return page.getByRole('region', { name: 'Board' }).getByRole('region', { name: new RegExp(`^${name}`) })
}

async function addAgent(page: Page): Promise<void> {
  await page.getByRole('navigation', { name: 'Main' }).getByText('Agents').click()
  await page
    .getByRole('button', { name: /^Add( an)? agent/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Type').selectOption('command')
  await dialog.getByLabel('Name', { exact: true }).fill('Scripted')
  await dialog.getByLabel('Command', { exact: true }).fill(work)
  await dialog.getByRole('button', { name: 'Add agent' }).click()
  await dialog.waitFor({ state: 'hidden' })
}

async function expectMerged(repository: TestRepository): Promise<void> {
  expect(await repository.git(['show', 'main:sum.ts'])).toContain('all.reduce')
  expect(await repository.git(['status', '--porcelain'])).toBe('')
  // The worktree is removed after the merge is reported.
  await expect
    .poll(() => repository.git(['worktree', 'list', '--porcelain']).then((list) => list.match(/^worktree /gm)))
    .toHaveLength(1)
  await access(repository.path)
}
