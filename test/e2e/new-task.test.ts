import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const card = (page: Page, title: string) => page.locator('[data-card]').filter({ hasText: title })
const column = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^${name}, `) })
const toast = (page: Page, text: RegExp) => page.locator('[data-sonner-toast]').filter({ hasText: text })

test('writes and starts a task by three keys, then the next', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const ferry = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const quiet = { executor: 'command', config: { command: 'sleep 600' } } as const
  await client.call('agents.create', { name: 'Abel', ...quiet })
  await client.call('agents.create', { name: 'Writer', ...quiet })
  await page.reload()
  await column(page, 'To do').waitFor()
  const dialog = page.getByRole('dialog', { name: 'New task' })
  let presses = 0
  const press = async (key: string) => {
    presses += 1
    await page.keyboard.press(key)
  }

  // Created: its card has the focus, and one key starts it.
  await press('c')
  await dialog.waitFor()
  await page.keyboard.type('Count the passengers')
  await press('Control+Enter')
  await toast(page, /^Created FER-1\. s starts it\./i).waitFor()
  await expect.poll(() => card(page, 'Count').evaluate((one) => one === document.activeElement)).toBe(true)
  await press('s')
  // No agent was used here yet, so the agents have digits.
  const who = page.getByRole('dialog', { name: 'Who should do this?' })
  await who.getByRole('button', { name: /^Writer/ }).waitFor()
  await press('2')
  await column(page, 'In progress').filter({ hasText: 'Count' }).waitFor()
  expect(presses).toBe(4)

  // Created and started at once, with the agent used last.
  presses = 0
  await press('c')
  await dialog.getByRole('button', { name: /^Start with Writer/ }).waitFor()
  expect(await violationsInThemes(page), 'new task').toEqual([])
  await page.keyboard.type('Paint the hull')
  await press('Control+Shift+Enter')
  await column(page, 'In progress').filter({ hasText: 'Paint' }).waitFor()
  expect(presses).toBeLessThanOrEqual(3)
  await toast(page, /Created FER-2\. Writer starts on it\./).waitFor()
  const started = (await client.call('tasks.list', { project_id: ferry.id, q: 'Paint' })).items[0]
  const [run] = (await client.call('tasks.executions', { task_id: started?.id ?? '' })).items
  const writer = (await client.call('agents.list', {})).items.find(({ name }) => name === 'Writer')
  expect(run?.agent_id).toBe(writer?.id)

  // Several in a row: the dialog stays, with its choices.
  await page.keyboard.press('c')
  await dialog.getByText('Create another').click()
  await dialog.getByRole('button', { name: /^Priority/ }).click()
  await page.getByRole('menuitem', { name: 'High' }).click()
  await dialog.getByLabel('Title').fill('First of two')
  await page.keyboard.press('Control+Enter')
  await card(page, 'First of two').waitFor()
  await expect.poll(() => dialog.getByLabel('Title').inputValue()).toBe('')
  await dialog.getByRole('button', { name: 'Priority: High' }).waitFor()
  await dialog.getByText('Create another').click()
  await dialog.getByLabel('Title').fill('Second of two')
  await page.keyboard.press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })
  await expect.poll(() => card(page, 'Second of two').evaluate((one) => one === document.activeElement)).toBe(true)
  const items = (await client.call('tasks.list', { project_id: ferry.id, q: 'of two' })).items
  expect(items.map(({ priority }) => priority)).toEqual([3, 3])

  // Several lines in the place of a title: each becomes a task, with what was chosen for all.
  await page.keyboard.press('c')
  await dialog.getByRole('button', { name: /^Priority/ }).click()
  await page.getByRole('menuitem', { name: 'High' }).click()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.evaluate((text) => navigator.clipboard.writeText(text), '- Row the boat\n- Row it back\n\n- Row on\n')
  await dialog.getByLabel('Title').focus()
  await page.keyboard.press('Control+v')
  await dialog.getByText('You pasted 3 lines.').waitFor()
  expect(await violationsInThemes(page), 'pasted lines').toEqual([])
  await dialog.getByRole('button', { name: 'Create 3 tasks' }).click()
  await toast(page, /Created 3 tasks\./).waitFor()
  await dialog.waitFor({ state: 'detached' })
  const rows = (await client.call('tasks.list', { project_id: ferry.id, q: 'Row' })).items
  expect(rows.map(({ title, priority }) => [title, priority])).toEqual([
    ['Row the boat', 3],
    ['Row it back', 3],
    ['Row on', 3],
  ])
})

test('offers an agent that can run on a new device: one of the project before the first by name', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const ferry = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const quiet = { executor: 'command', config: { command: 'sleep 600' } } as const
  await client.call('agents.create', { name: 'Abel', executor: 'claude-code', config: { command: '/nowhere/claude' } })
  await client.call('agents.create', { name: 'Berta', ...quiet })
  const carl = await client.call('agents.create', { name: 'Carl', ...quiet })
  await page.reload()
  await column(page, 'To do').waitFor()
  const dialog = page.getByRole('dialog', { name: 'New task' })

  await page.keyboard.press('c')
  await dialog.getByRole('button', { name: /^Start with Berta/ }).waitFor()
  const task = await client.call('tasks.create', { project_id: ferry.id, title: 'Count the passengers' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: carl.id })
  await dialog.getByRole('button', { name: /^Start with Carl/ }).waitFor()
  await dialog.getByLabel('Title').fill('Paint the hull')
  await page.keyboard.press('Control+Enter')

  // The same order by digits; an agent that isn't on this machine has none.
  await expect.poll(() => card(page, 'Paint').evaluate((one) => one === document.activeElement)).toBe(true)
  await page.keyboard.press('s')
  const who = page.getByRole('dialog', { name: 'Who should do this?' })
  await who.getByRole('button', { name: /^Abel Not installed/ }).waitFor()
  const names = await who.locator('ul button').allInnerTexts()
  expect(names.map((text) => /\b(Carl|Berta|Abel|I)\b/.exec(text)?.[0])).toEqual(['Carl', 'Berta', 'Abel', 'I'])
  await page.keyboard.press('3')
  await who.waitFor()
  await page.keyboard.press('1')
  await column(page, 'In progress').filter({ hasText: 'Paint' }).waitFor()
  const started = (await client.call('tasks.list', { project_id: ferry.id, q: 'Paint' })).items[0]
  const [run] = (await client.call('tasks.executions', { task_id: started?.id ?? '' })).items
  expect(run?.agent_id).toBe(carl.id)
})
