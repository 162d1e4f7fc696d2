import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violations } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('finds tasks, actions and settings, and changes a command’s keys', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const lease = await client.call('tasks.create', { project_id: project.id, title: 'Lease deliveries', status: 'todo' })
  const judge = await client.call('agents.create', { name: 'Judge', executor: 'command', config: { command: 'true' } })
  await client.call('tasks.create', { project_id: project.id, title: 'Release notes', status: 'todo' })
  await page.reload()
  await openProject('Ferry')
  const palette = page.getByRole('dialog', { name: 'Command palette' })
  const field = palette.getByRole('textbox', { name: 'Find a task, an action or a setting' })
  const chosen = palette.locator('[role="option"][data-highlighted]')

  // A task, by a few letters, on the full page.
  await page.keyboard.press('Control+k')
  await field.fill('lease')
  await palette.getByRole('option', { name: /Lease deliveries/ }).waitFor()
  await expect.poll(() => chosen.textContent()).toContain('Lease deliveries')
  expect(await violations(page)).toEqual([])
  await page.keyboard.press('Enter')
  await panel.getByRole('heading', { name: 'Lease deliveries' }).waitFor()

  // Actions of the open task, with the unavailable ones and their reasons.
  await page.keyboard.press('Control+k')
  await expect.poll(() => palette.getByRole('option').first().textContent()).toContain('Lease deliveries')
  await palette.getByRole('group', { name: /^Actions on/ }).waitFor()
  expect(await palette.getByRole('group').nth(1).getAttribute('aria-labelledby')).toBe(
    await palette.getByText(/^Actions on/).getAttribute('id'),
  )
  await field.fill('>stop')
  await expect.poll(() => chosen.textContent()).toContain('No agent is running')
  await page.keyboard.press('Enter')
  await palette.waitFor()
  await field.fill('>changes')
  await expect.poll(() => chosen.textContent()).toContain('Changes')
  await page.keyboard.press('Enter')
  await palette.waitFor({ state: 'detached' })
  await expect.poll(() => panel.getByRole('tab', { name: 'Changes' }).getAttribute('aria-selected')).toBe('true')
  await page.keyboard.press('Escape')
  await panel.waitFor({ state: 'detached' })

  // Screens, by a sequence of keys and by name.
  await page.keyboard.press('g')
  await page.keyboard.press('a')
  await expect.poll(() => page.url()).toContain('#/agents')
  await page.keyboard.press('Control+k')
  await field.fill('appearance')
  await page.keyboard.press('Enter')
  await expect.poll(() => page.url()).toContain('#/settings/appearance')
  await page.keyboard.press('g')
  await page.keyboard.press('b')
  await page
    .getByRole('button', { name: /New task/ })
    .first()
    .waitFor()

  // Custom keys: those of another command are refused, free ones work until they are reset.
  await page.keyboard.press('?')
  const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  for (const key of ['Overview', 'Agent', 'Activity', 'Comment on the selected lines'])
    await shortcuts.locator('dt').getByText(key, { exact: true }).first().waitFor()
  // A key of two caps is not broken over two lines.
  const caps = shortcuts.locator('div').filter({ has: page.getByText('Merge and go to the next', { exact: false }) })
  const tops = await caps
    .last()
    .locator('.kbd')
    .evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top))
  expect(new Set(tops).size).toBe(1)
  await shortcuts.getByLabel('Find a shortcut').fill('new t')
  await expect.poll(() => shortcuts.locator('dt').allTextContents()).toEqual(['New task'])
  await shortcuts.getByRole('button', { name: 'Change…' }).click()
  await page.getByRole('heading', { name: 'Keyboard', exact: true }).waitFor()
  expect(await violations(page)).toEqual([])
  const changeOf = (label: string) => page.getByRole('button', { name: `Change the keys of ${label}` })
  await changeOf('New task').press('Enter')
  await page.keyboard.press('m')
  await expect.poll(() => page.getByRole('alert').textContent()).toContain('Move to state')
  await page.keyboard.press('Shift+B')
  await changeOf('New task').and(page.locator(':focus')).waitFor()
  await changeOf('Command palette').press('Enter')
  await page.keyboard.press('Escape')
  await changeOf('Search').press('Enter')
  await page.keyboard.press('Shift+Z')
  await page.getByRole('button', { name: 'Reset the keys of Search' }).click()
  await page.reload()
  await page.getByRole('button', { name: 'Reset the keys of New task' }).waitFor()
  const newTask = page.getByRole('dialog', { name: 'New task' })
  await page.keyboard.press('Shift+B')
  await newTask.waitFor()
  await page.keyboard.press('Escape')
  await newTask.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Reset all' }).click()
  await page.getByRole('button', { name: /^Reset the keys/ }).waitFor({ state: 'detached' })
  await page.keyboard.press('c')
  await newTask.waitFor()

  // A task with all its initial fields, by keyboard, kept over a reload until it is created.
  await page.keyboard.type('Paint the hull')
  await newTask.getByRole('button', { name: 'Reviewer: no one yet' }).press('Enter')
  await page.getByRole('menuitem', { name: 'Judge' }).press('Enter')
  await newTask.getByRole('button', { name: 'Waits for', exact: true }).press('Enter')
  await page.getByRole('textbox', { name: 'A task that has to be done first' }).fill('lease')
  await expect.poll(() => page.locator('[role="option"][data-highlighted]').textContent()).toContain('Release notes')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await newTask.getByRole('button', { name: 'Don’t wait for Lease deliveries' }).waitFor()
  expect(await violations(page)).toEqual([])
  await page.reload()
  await page.getByRole('heading', { name: 'Keyboard', exact: true }).waitFor()
  await page.getByText('Ferry').first().waitFor()
  await page.keyboard.press('c')
  await newTask.getByRole('button', { name: 'Judge, reviewer' }).waitFor()
  await newTask.getByRole('button', { name: 'Don’t wait for Lease deliveries' }).waitFor()
  await page.keyboard.press('Control+Enter')
  await newTask.waitFor({ state: 'detached' })
  const made = async () => {
    const { items } = await client.call('tasks.list', { project_id: project.id })
    const painted = items.find(({ title }) => title === 'Paint the hull')
    return [painted?.dependencies, painted?.roles['reviewer']?.id]
  }
  await expect.poll(made).toEqual([[lease.id], judge.id])
})

test('selects a late best match, unless the person has moved on', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await client.call('tasks.create', { project_id: project.id, title: 'Bo bridge', status: 'todo' })
  const palette = page.getByRole('dialog', { name: 'Command palette' })
  const chosen = palette.locator('[role="option"][data-highlighted]')
  const typeBeforeTasks = async () => {
    const held = Promise.withResolvers<void>()
    await page.route(/\/first_screen$/, (route) => route.abort())
    await page.route(/\/(board|tasks)(\?|$)/, (route) => held.promise.then(() => route.continue()))
    await page.reload()
    await page.getByText('Ferry').first().waitFor()
    await page.keyboard.press('Control+k')
    await palette.getByRole('textbox').fill('bo')
    await expect.poll(() => chosen.textContent()).not.toContain('bridge')
    return async () => {
      held.resolve()
      await palette.getByRole('option', { name: /bridge/ }).waitFor()
      await page.unrouteAll()
    }
  }

  const come = await typeBeforeTasks()
  await come()
  await expect.poll(() => chosen.textContent()).toContain('Bo bridge')

  const comeLater = await typeBeforeTasks()
  const first = await chosen.textContent()
  await page.keyboard.press('ArrowDown')
  const second = await chosen.textContent()
  expect(second).not.toBe(first)
  await comeLater()
  await palette.getByRole('status').filter({ hasText: 'still being loaded' }).waitFor({ state: 'detached' })
  expect(await chosen.textContent()).toBe(second)
})
