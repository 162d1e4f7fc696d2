import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('stacks a task on another, shows that, and unstacks it', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const viewport = { width: 1440, height: 900 }
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Stack', repo_path: repository.path })
  const lower = await client.call('tasks.create', { project_id, title: 'Lower' })
  const upper = await client.call('tasks.create', { project_id, title: 'Upper' })
  const stackedOn = async () => (await client.call('tasks.get', { task_id: upper.id })).stacked_on
  await page.reload()
  await openProject('Stack')
  await openTask('Upper', 'Overview')
  const stack = panel.getByRole('region', { name: 'Stack' })
  await stack.getByText('Begins on the base branch.').waitFor()
  await stack.getByRole('button', { name: /^Choose/ }).click()
  await page.getByPlaceholder('Title, number or id').fill('Low')
  await page.keyboard.press('Enter')
  await stack.getByText(`Its branch lies on that of ${lower.ref}, follows it, and lands after it.`).waitFor()
  expect(await stackedOn()).toBe(lower.id)
  await page.locator(`[data-card="${upper.id}"]`).getByText('On top of').waitFor()

  await stack.getByRole('button', { name: `Take off ${lower.ref}` }).click()
  await stack.getByText('Begins on the base branch.').waitFor()
  expect(await stackedOn()).toBeNull()
  await page.locator(`[data-card="${upper.id}"]`).getByText('On top of').waitFor({ state: 'detached' })
})
