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

test('collapses empty columns, and opens them while a card is dragged over them', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const ferry = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await page.reload()
  // A completely empty board keeps its columns open.
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

  // A search that hides everything collapses no more columns.
  await page.keyboard.press('/')
  await page.keyboard.type('nothing like it')
  await page.getByRole('heading', { name: 'No matching tasks' }).waitFor()
  await page.getByRole('region', { name: 'To do, 0 tasks', exact: true }).waitFor()
  await page.keyboard.press('Escape')

  // Over a collapsed column the drag shows a hint; nothing else moves.
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
  // A column that was opened by hand stays open.
  await page.getByRole('button', { name: /Expand In progress|^0 In progress/ }).click()
  await column(page, 'In progress').getByRole('heading').waitFor()
  await page.reload()
  await column(page, 'In progress').getByRole('heading').waitFor()
})

test('links a card to the servers of its worktree while they answer', async () => {
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
  // The failure and its reason in one line.
  await card(page, 'Serve').getByText('The provider didn’t answer').waitFor()
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
})

test('picks several cards and does one thing with all', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel } = await openLocally(await browser.newPage(checkedPage), service)
  const ferry = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await client.call('agents.create', { name: 'Waits', executor: 'command', config: { command: 'sleep 600' } })
  const make = (title: string) => client.call('tasks.create', { project_id: ferry.id, title, status: 'todo' })
  for (const title of ['Five', 'Four', 'Three', 'Two', 'One']) await make(title)
  const over = await make('Over')
  await client.call('tasks.cancel', { task_id: over.id })
  await page.reload()
  const bar = page.getByRole('region', { name: 'Selected tasks' })
  const tasksNow = async () => (await client.call('tasks.list', { project_id: ferry.id })).items
  const named = async (title: string) => (await tasksNow()).find((task) => task.title === title)

  // By keys: one, and down from it; the priority of all three.
  await card(page, 'One').focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Shift+ArrowDown')
  await page.keyboard.press('Shift+ArrowDown')
  await bar.getByText('3 selected').waitFor()
  expect(await violationsInThemes(page), 'selected').toEqual([])
  await page.keyboard.press('p')
  await page.getByRole('dialog', { name: 'Priority' }).getByText('3 tasks').waitFor()
  await page.keyboard.press('3')
  await expect.poll(async () => (await tasksNow()).filter(({ priority }) => priority === 3).length).toBe(3)
  await card(page, 'Two').getByRole('img', { name: /High/ }).waitFor()
  // Their labels, with the same selection.
  await page.keyboard.press('Shift+L')
  const labels = page.getByRole('dialog', { name: 'Labels' })
  await labels.getByLabel('Find or add a label').fill('docs')
  await page.keyboard.press('Enter')
  await labels.getByRole('button', { name: /All have it docs/ }).waitFor()
  expect(await violationsInThemes(page), 'labels').toEqual([])
  await page.keyboard.press('Escape')
  await labels.waitFor({ state: 'detached' })
  await expect.poll(async () => (await tasksNow()).filter((task) => task.labels.includes('docs')).length).toBe(3)
  await page.keyboard.press('Escape')
  await bar.waitFor({ state: 'detached' })

  // By pointer: a range and one more. Cards that can't be changed say why and stay selected.
  await card(page, 'One').click({ modifiers: ['Control'] })
  await card(page, 'Two').click({ modifiers: ['Shift'] })
  await page.getByRole('button', { name: /Done/ }).first().waitFor()
  await card(page, 'Over').click({ modifiers: ['Control'] })
  await bar.getByText('3 selected').waitFor()
  expect(await panel.count()).toBe(0)
  await bar.getByRole('button', { name: 'Start' }).click()
  await page
    .getByRole('dialog', { name: 'Who should do these?' })
    .getByRole('button', { name: /^Waits/ })
    .click()
  await bar.getByText('2 of 3 started. These were not:').waitFor()
  await bar.getByText('This task is finished').waitFor()
  await bar.getByText('1 selected').waitFor()
  expect((await named('One'))?.status).toBe('in_progress')
  expect((await named('Two'))?.status).toBe('in_progress')
  await bar.getByRole('button', { name: 'Archive' }).click()
  await card(page, 'Over').waitFor({ state: 'detached' })

  // In the list too: movable tasks move, and the others say why not.
  await page.getByRole('button', { name: 'List' }).click()
  await card(page, 'Three').focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Shift+ArrowDown')
  await bar.getByText('2 selected').waitFor()
  await page.keyboard.press('m')
  await page.getByRole('dialog', { name: 'Move to' }).getByRole('button', { name: 'Backlog' }).click()
  await expect.poll(async () => (await tasksNow()).filter(({ status }) => status === 'backlog').length).toBe(2)

  // A single card has the same keys, and its menu shows them.
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Board' }).click()
  await card(page, 'Five').focus()
  await page.keyboard.press('p')
  await page.keyboard.press('4')
  await expect.poll(async () => (await named('Five'))?.priority).toBe(4)
  await page.keyboard.press('.')
  await page.getByRole('menuitem', { name: /^Labels…/ }).waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: /Find a task/ }).fill('priority')
  await page.getByRole('option', { name: /Set priority/ }).waitFor()
})

test('undoes an archive of several cards for exactly those it changed', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const make = (title: string) => client.call('tasks.create', { project_id, title, status: 'todo' })
  const [old, one, two] = [await make('Old'), await make('One'), await make('Two')]
  for (const { id } of [old, one, two]) await client.call('tasks.cancel', { task_id: id })
  await client.call('tasks.archive', { task_id: old.id })
  await make('Open')
  await page.reload()
  const bar = page.getByRole('region', { name: 'Selected tasks' })
  const toast = (text: RegExp) => page.locator('[data-sonner-toast]').filter({ hasText: text })
  const archived = async () => {
    const { items } = await client.call('tasks.list', { project_id, include_archived: true })
    return items.flatMap((task) => (task.archived ? [task.title] : [])).toSorted()
  }
  await card(page, 'One').click({ modifiers: ['Control'] })
  await card(page, 'Two').click({ modifiers: ['Control'] })
  await bar.getByRole('button', { name: 'Archive' }).click()
  await card(page, 'One').waitFor({ state: 'detached' })
  await toast(/^2 tasks archived/)
    .getByRole('button', { name: 'Undo' })
    .click()
  await card(page, 'One').waitFor()
  await card(page, 'Two').waitFor()
  expect(await archived()).toEqual(['Old'])

  // They are selected again. One that can't be archived does not come back.
  await bar.getByText('2 selected').waitFor()
  await card(page, 'Two').click({ modifiers: ['Control'] })
  await card(page, 'Open').click({ modifiers: ['Control'] })
  await bar.getByRole('button', { name: 'Archive' }).click()
  await bar.getByText('1 of 2 archived. These were not:').waitFor()
  expect(await archived()).toEqual(['Old', 'One'])
  await toast(/^Archived “One”/)
    .getByRole('button', { name: 'Undo' })
    .click()
  await card(page, 'One').waitFor()
  expect(await archived()).toEqual(['Old'])
})

test('groups the list, current work first, and saves a view by name', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const ferry = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const other = await client.call('projects.create', { name: 'Lantern', repo_path: repository.path })
  const make = (title: string, status: string, labels: string[] = []) =>
    client.call('tasks.create', { project_id: ferry.id, title, status, labels })
  await make('Later', 'backlog')
  await make('Next', 'todo', ['docs', 'store'])
  const { id: task_id } = await make('Now', 'todo')
  const waits = { name: 'Waits', executor: 'command', config: { command: 'sleep 600' } } as const
  await client.call('tasks.claim', { task_id, agent_id: (await client.call('agents.create', waits)).id })
  await client.call('tasks.create', { project_id: other.id, title: 'Of the other', status: 'todo' })
  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).getByText('Ferry').click()
  await page.getByRole('button', { name: 'List' }).click()
  const table = page.getByRole('table')
  const titles = () => page.locator('[data-card]').allTextContents()
  await expect.poll(titles).toEqual(['Now', 'Next', 'Later'])
  await table.getByRole('button', { name: 'In progress 1' }).waitFor()
  // Labels are visible; an empty column is hidden.
  await table.getByText('docs').waitFor()
  expect(await table.getByRole('button', { name: 'Review' }).count()).toBe(0)
  expect(await violationsInThemes(page), 'groups').toEqual([])
  // Collapsed, also afterwards; keys skip hidden cards.
  await table.getByRole('button', { name: 'To do 1' }).click()
  await expect.poll(titles).toEqual(['Now', 'Later'])
  await card(page, 'Now').focus()
  await page.keyboard.press('j')
  await expect.poll(() => card(page, 'Later').evaluate((one) => one === document.activeElement)).toBe(true)
  await page.reload()
  await expect.poll(titles).toEqual(['Now', 'Later'])

  // A named view, from the palette too.
  await page.keyboard.press('Shift+F')
  await page.getByRole('textbox', { name: 'Find a filter' }).fill('label docs')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Views' }).click()
  await page.getByRole('menuitem', { name: 'Save this view…' }).click()
  await page.getByRole('textbox', { name: 'Name of the view' }).fill('Only docs')
  expect(await violationsInThemes(page), 'save a view').toEqual([])
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('button', { name: 'Board' }).click()
  await card(page, 'Later').waitFor()
  await page.reload()
  await card(page, 'Later').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('textbox', { name: /Find a task/ }).fill('only docs')
  await page.getByRole('option', { name: /Only docs/ }).waitFor()
  await page.keyboard.press('Enter')
  await expect.poll(titles).toEqual(['Next'])
  // With all projects each is a group.
  await page.keyboard.press('g')
  await page.keyboard.press('p')
  await page.getByRole('button', { name: 'List' }).click()
  await table.getByRole('button', { name: 'Ferry 3' }).waitFor()
  await table.getByRole('button', { name: 'Lantern 1' }).waitFor()
})
