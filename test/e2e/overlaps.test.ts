import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('shows conflicting tasks on cards and panels, and tells agents if set so', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'a\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage(checkedPage), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const add = (name: string, command: string) =>
    client.call('agents.create', { name, executor: 'command', config: { command } })
  const writer = await add('Writer', 'echo mine > a.txt; echo done')
  const thinker = await add('Thinker', 'tail -f /dev/null')
  const first = await client.call('tasks.create', { project_id, title: 'First change' })
  const second = await client.call('tasks.create', { project_id, title: 'Second change' })
  await client.call('tasks.claim', { task_id: first.id, agent_id: writer.id })
  const { workspace } = await client.call('tasks.claim', { task_id: second.id, agent_id: thinker.id })
  await page.reload()
  await openProject('Ferry')
  const card = (title: string) => page.locator('[data-card]').filter({ hasText: title })
  await card('Second change').waitFor()
  expect(await page.locator('[data-card]').getByText('Will clash with').count()).toBe(0)
  await writeFile(join(workspace?.path ?? '', 'a.txt'), 'theirs\n')
  await card('First change').getByText(`Will clash with ${second.ref}`).waitFor()
  await card('Second change').getByText(`Will clash with ${first.ref}`).waitFor()
  await expect
    .poll(() => client.call('tasks.get', { task_id: first.id }), { timeout: 20_000 })
    .toMatchObject({ status: 'review', entry_barrier: false })

  // The first task has a passed review, the second has none.
  await openTask('Second change', 'Overview')
  const sign = (other: string) => panel.getByRole('button', { name: `Will clash with ${other}` })
  const forecast = page.getByRole('dialog', { name: /^Will clash with/ })
  const land = forecast.getByRole('button', { name: 'Land this first' })
  await sign(first.ref).click()
  await forecast.getByText('a.txt', { exact: true }).waitFor()
  await forecast.getByText(workspace?.branch ?? 'no branch', { exact: true }).waitFor()
  expect(await land.getAttribute('aria-disabled')).toBe('true')
  expect(await violationsInThemes(page), 'the forecast').toEqual([])
  await forecast.getByRole('link', { name: `Will clash with ${first.ref}` }).click()
  await sign(second.ref).click()
  await expect.poll(() => land.getAttribute('aria-disabled')).not.toBe('true')
  await land.click()
  await expect
    .poll(() => client.call('tasks.get', { task_id: first.id }), { timeout: 20_000 })
    .toMatchObject({ status: 'done' })
  await page.locator('[data-card]').getByText('Will clash with').first().waitFor({ state: 'detached' })

  await page.evaluate((id) => (location.hash = `#/p/${id}/settings/merge`), project_id)
  const tell = page.getByRole('switch', { name: 'Tell agents about conflicts' })
  await tell.click()
  const setting = async () => (await client.call('projects.get_settings', { project_id })).tell_agents_of_overlaps
  await expect.poll(setting).toBe(true)
  expect(await violationsInThemes(page), 'the setting').toEqual([])
}, 120_000)
