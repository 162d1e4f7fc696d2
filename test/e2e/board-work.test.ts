import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const card = (page: Page, title: string) => page.locator('[data-card]').filter({ hasText: title })
const column = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^${name}, `) })

test('columns without tasks stand aside, and open while a card is dragged over them', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const ferry = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await page.reload()
  // Whoever sees an empty board for the first time sees what there is.
  await column(page, 'Review').getByRole('heading').waitFor()
  await client.call('tasks.create', { project_id: ferry.id, title: 'Count the passengers', status: 'todo' })
  await card(page, 'Count').waitFor()
  const backlog = page.getByRole('region', { name: 'Backlog, 0 tasks, collapsed' })
  await backlog.waitFor()
  for (const name of ['In progress', 'Review', 'Done'])
    await page.getByRole('region', { name: `${name}, 0 tasks, collapsed` }).waitFor()
  const board = page.getByRole('region', { name: 'Board' })
  expect(await board.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0)
  expect((await backlog.boundingBox())?.width).toBe(36)

  // A search that hides everything folds nothing more.
  await page.keyboard.press('/')
  await page.keyboard.type('nothing like it')
  await page.getByRole('heading', { name: 'No task fits' }).waitFor()
  await page.getByRole('region', { name: 'To do, 0 tasks', exact: true }).waitFor()
  await page.keyboard.press('Escape')

  // Over a folded column the drag says what would come of it; nothing else moves.
  const before = await column(page, 'To do').boundingBox()
  await card(page, 'Count').hover()
  await page.mouse.down()
  const box = await backlog.boundingBox()
  await page.mouse.move((box?.x ?? 0) + 14, (box?.y ?? 0) + 60, { steps: 6 })
  await backlog.getByText('Drop to move it to Backlog').waitFor()
  expect(await column(page, 'To do').boundingBox()).toEqual(before)
  expect(await violationsInThemes(page), 'dragging').toEqual([])
  await page.mouse.up()
  await column(page, 'Backlog').locator('[data-card]').waitFor()
  // Opened by hand it stays open.
  await page.getByRole('button', { name: /Expand In progress|^0 In progress/ }).click()
  await column(page, 'In progress').getByRole('heading').waitFor()
  await page.reload()
  await column(page, 'In progress').getByRole('heading').waitFor()
}, 120_000)

test('a card leads to what runs in its worktree, as long as something answers there', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const ferry = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const { id: agent_id } = await client.call('agents.create', {
    name: 'Breaks',
    executor: 'command',
    config: { command: 'echo 529 overloaded; exit 1' },
  })
  const { id: task_id } = await client.call('tasks.create', { project_id: ferry.id, title: 'Serve', status: 'todo' })
  await client.call('tasks.claim', { task_id, agent_id })
  await page.reload()
  // What failed, and why, in one line.
  await card(page, 'Serve').getByText('Agent failed: 529 overloaded').waitFor()
  const { port_base } = await client.call('tasks.get', { task_id })
  const port = (port_base ?? 0) + 3
  expect(await page.getByRole('link', { name: /^Preview/ }).count()).toBe(0)
  const server = createServer((_, response) => response.end('<h1>Ferry</h1>'))
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  try {
    await page.reload()
    const link = page.getByRole('link', { name: `Preview :${port}` })
    await link.waitFor()
    expect(await violationsInThemes(page), 'preview').toEqual([])
    const [shown] = await Promise.all([page.context().waitForEvent('page'), link.click()])
    await shown.getByRole('heading', { name: 'Ferry' }).waitFor()
    await shown.close()
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
  await page.reload()
  await card(page, 'Serve').waitFor()
  await page.waitForResponse(/previews/)
  expect(await page.getByRole('link', { name: /^Preview/ }).count()).toBe(0)
}, 120_000)
