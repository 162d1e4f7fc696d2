import { rename } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const viewport = { width: 1440, height: 900 }

test('adds a second repository, uses it for a task, finds it after a move, and shows ports', async () => {
  await using first = await createTestRepository({ files: { 'first.txt': 'one\n' } })
  await using second = await createTestRepository({ files: { 'second.txt': 'two\n' } })
  await second.git(['config', 'filter.secret.clean', './seal'])
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Ferry', repo_path: first.path })
  await client.call('agents.create', { name: 'Tester', executor: 'command', config: { command: 'ls; exit 1' } })
  await page.reload()
  await openProject('Ferry')

  await page.goto(`${new URL(page.url()).origin}/#/settings/repositories`)
  await page.getByRole('heading', { name: 'Repositories' }).waitFor()
  await page.getByRole('button', { name: 'Add repository' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Folder, on the machine where Copse runs').fill('/nowhere')
  await dialog.getByRole('button', { name: 'Add repository' }).click()
  await dialog.getByText(/No folder at/).waitFor()
  await dialog.getByLabel('Folder, on the machine where Copse runs').fill(second.path)
  await dialog.getByLabel('Name').fill('Backend')
  // The programs that git would run in the repository are listed before it is added.
  await dialog.getByText('filter.secret.clean = ./seal').waitFor()
  await dialog.getByRole('button', { name: 'Add repository' }).click()
  await dialog.waitFor({ state: 'hidden' })
  const rows = page.getByRole('main').getByRole('listitem')
  await rows.filter({ hasText: 'Backend' }).waitFor()
  await rows.first().getByText('Primary').waitFor()

  await openProject('Ferry')
  await page.keyboard.press('c')
  await dialog.getByLabel('Title').fill('Look at the backend')
  await dialog.getByRole('button', { name: 'Repository: ' }).click()
  await page.getByRole('menuitem', { name: 'Backend' }).click()
  await dialog.getByRole('button', { name: /^Agent/ }).click()
  await page.getByRole('menuitem', { name: 'Tester' }).click()
  await dialog.getByRole('button', { name: 'Create and start' }).click()
  await dialog.waitFor({ state: 'hidden' })
  const card = page.locator('[data-card]').filter({ hasText: 'Look at the backend' })
  await card.waitFor()
  const { items } = await client.call('tasks.list', { project_id: project.id })
  const base = items[0]?.port_base ?? 0
  // Nothing listens there yet, so the card shows no ports.
  expect(base).toBeGreaterThan(0)
  expect(await card.textContent()).not.toContain(String(base))
  await openTask('Look at the backend', 'Workspace')
  await panel.getByText(`${base} to ${base + 9}`).waitFor()
  await panel.getByRole('tab', { name: 'Overview' }).click()
  await panel.getByRole('button', { name: 'Backend', exact: true }).click()
  await page.getByText('It has a worktree already').waitFor()
  await page.keyboard.press('Escape')

  const place = `${second.path}-moved`
  await rename(second.path, place)
  try {
    await page.goto(`${new URL(page.url()).origin}/#/settings/repositories`)
    const row = rows.filter({ hasText: 'Backend' })
    await row.getByText(/No git repository at/).waitFor()
    await row.getByRole('button', { name: 'Update path…' }).click()
    await dialog.getByLabel('Folder, on the machine where Copse runs').fill(place)
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await row.getByText(place).waitFor()
    await row.getByText(/No git repository at/).waitFor({ state: 'hidden' })
    // Refused while a task works in it, with the reason.
    await row.getByRole('button', { name: 'Remove…' }).click()
    await row.getByRole('button', { name: 'Remove Backend' }).click()
    await page.getByText('1 task uses Backend. Move it to another repository, or delete it.').waitFor()
  } finally {
    await rename(place, second.path)
  }
})
