import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('saves a task as template, fills the next from it, and edits it in the settings', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await client.call('projects.update_settings', {
    project_id,
    default_review_config: { ci_steps: ['npm test'], review_prompt: null },
  })
  const judge = await client.call('agents.create', { name: 'Judge', executor: 'command', config: { command: 'true' } })
  const bug = await client.call('tasks.create', {
    project_id,
    title: 'The menu is cut off',
    description: 'What happens, and what should.',
    labels: ['bug'],
    priority: 3,
    status: 'todo',
  })
  await client.call('tasks.assign_role', { task_id: bug.id, role: 'reviewer', agent_id: judge.id })
  const templates = async () => (await client.call('task_templates.list', { project_id })).items
  await page.reload()
  const card = page.locator('[data-card]').filter({ hasText: 'The menu' })
  const dialog = page.getByRole('dialog', { name: 'New task' })
  const saving = page.getByRole('dialog', { name: 'Save as template' })
  const menu = (name: RegExp) => dialog.getByRole('button', { name })

  // From the menu of a task.
  await card.click({ button: 'right' })
  await page.getByRole('menuitem', { name: 'Save as template…' }).click()
  await saving.getByLabel('Name').fill('Bug')
  expect(await violationsInThemes(page), 'save as template').toEqual([])
  await page.keyboard.press('Enter')
  await saving.waitFor({ state: 'detached' })
  expect(await templates()).toMatchObject([
    { name: 'Bug', labels: ['bug'], priority: 3, review_config: {}, roles: { reviewer: { id: judge.id } } },
  ])

  // Typed text stays; empty fields are filled, and the title is next.
  await page.keyboard.press('c')
  await dialog.getByRole('textbox', { name: 'Description' }).fill('It hangs.')
  await menu(/^Template$/).click()
  expect(await violationsInThemes(page), 'template menu').toEqual([])
  await page.getByRole('menuitemcheckbox', { name: 'Bug' }).click()
  await menu(/^Template: Bug/).waitFor()
  await expect.poll(() => dialog.getByLabel('Title').evaluate((one) => one === document.activeElement)).toBe(true)
  expect(await dialog.getByLabel('Title').inputValue()).toBe('The menu is cut off')
  expect(await dialog.getByRole('textbox', { name: 'Description' }).inputValue()).toBe('It hangs.')
  await menu(/^Priority: High/).waitFor()
  await page.keyboard.type(', again')

  // Undone, except for what the person has written since.
  await menu(/^Template: Bug/).click()
  await page.getByRole('menuitem', { name: 'No template' }).click()
  expect(await dialog.getByLabel('Title').inputValue()).toBe('The menu is cut off, again')
  await menu(/^Priority: None/).waitFor()

  // The draft is saved as another one, without checks.
  await menu(/^Checks/).click()
  await dialog.getByText('Run no checks for this task').click()
  await menu(/^Template$/).click()
  await page.getByRole('menuitem', { name: 'Save as template…' }).click()
  await saving.getByLabel('Name').fill('bug')
  await saving.getByTitle('Another template has this name').waitFor()
  await saving.getByLabel('Name').fill('Hang')
  await page.keyboard.press('Control+Enter')
  await saving.waitFor({ state: 'detached' })
  await dialog.waitFor()
  await expect.poll(async () => (await templates()).map(({ name }) => name)).toEqual(['Bug', 'Hang'])
  expect((await templates())[1]).toMatchObject({ description: 'It hangs.', review_config: { ci_steps: [] } })

  // The settings: another window’s change appears, and names and fields are edited.
  await menu(/^Template$/).click()
  await page.getByRole('menuitem', { name: 'Edit templates' }).click()
  const list = page.getByRole('list', { name: 'Templates' })
  await list.getByText('Hang').waitFor()
  await client.call('task_templates.create', { project_id, name: 'Chore', priority: 1 })
  await list.getByText('Chore').waitFor()
  expect(await violationsInThemes(page), 'templates').toEqual([])
  await list.getByRole('button', { name: 'Edit Hang' }).click()
  const editing = page.getByRole('dialog', { name: 'Edit template' })
  await editing.getByLabel('Name of the template').fill('Hang up')
  await editing.getByRole('button', { name: /^Priority/ }).click()
  await page.getByRole('menuitem', { name: 'Urgent' }).click()
  expect(await violationsInThemes(page), 'edit template').toEqual([])
  await page.keyboard.press('Control+Enter')
  await editing.waitFor({ state: 'detached' })
  await list.getByText('Hang up').waitFor()
  expect((await templates())[2]).toMatchObject({ name: 'Hang up', priority: 4, review_config: { ci_steps: [] } })
  const row = list.getByRole('listitem').filter({ hasText: 'Chore' })
  await row.getByRole('button', { name: 'Delete…' }).click()
  await row.getByRole('button', { name: 'Delete template' }).click()
  await row.waitFor({ state: 'detached' })
  expect((await templates()).map(({ name }) => name)).toEqual(['Bug', 'Hang up'])
})

test('shows an agent’s prompt while the task is written', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await client.call('agents.create', { name: 'Writer', executor: 'command', config: { command: 'true' } })
  await page.reload()
  await page.getByRole('region', { name: /^To do, / }).waitFor()
  await page.keyboard.press('c')
  const dialog = page.getByRole('dialog', { name: 'New task' })
  await dialog.getByRole('button', { name: 'Preview prompt' }).click()
  const preview = dialog.getByRole('region', { name: 'Prompt preview' })
  await preview.getByText('Enter a title to see the prompt.').waitFor()
  await dialog.getByLabel('Title').fill('Count the passengers')
  await preview.getByText('# Count the passengers').waitFor()
  await dialog.getByRole('textbox', { name: 'Description' }).fill('Both decks.')
  await preview.getByText('Both decks.').waitFor()
  expect(await violationsInThemes(page), 'prompt preview').toEqual([])
  const shown = async () => (await preview.locator('pre').allTextContents()).join('\n')
  const coder = await shown()
  await preview.getByLabel('Prompt for').selectOption({ label: 'Reviewer' })
  await expect.poll(shown).toContain('Nothing has changed on this branch.')
  await preview.getByLabel('Prompt for').selectOption({ label: 'Coder' })
  await expect.poll(shown).toBe(coder)
  expect((await client.call('tasks.list', { project_id })).items).toEqual([])
  await page.keyboard.press('Control+Enter')
  await dialog.waitFor({ state: 'detached' })
  const [task] = (await client.call('tasks.list', { project_id })).items
  const told = await client.call('tasks.prompt', { task_id: task?.id ?? '' })
  expect(told.parts.map(({ text }) => text.trim()).join('\n')).toBe(coder)
})
