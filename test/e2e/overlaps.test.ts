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
    .poll(() => client.call('tasks.get', { task_id: first.id }), { timeout: 80_000 })
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
    .poll(() => client.call('tasks.get', { task_id: first.id }), { timeout: 80_000 })
    .toMatchObject({ status: 'done' })
  await page.locator('[data-card]').getByText('Will clash with').first().waitFor({ state: 'detached' })

  await page.evaluate((id) => (location.hash = `#/p/${id}/settings/merge`), project_id)
  const tell = page.getByRole('switch', { name: 'Tell agents about conflicts' })
  await tell.click()
  const setting = async () => (await client.call('projects.get_settings', { project_id })).tell_agents_of_overlaps
  await expect.poll(setting).toBe(true)
  expect(await violationsInThemes(page), 'the setting').toEqual([])
})

test('shows both sides of a conflict with the base before a merge is tried, and what its agent would do', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'one\ntwo\nthree\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage(checkedPage), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const config = { command: 'sed -i s/two/theirs/ a.txt; echo done' }
  const writer = await client.call('agents.create', { name: 'Writer', executor: 'command', config })
  const task = await client.call('tasks.create', { project_id, title: 'Change two' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: writer.id })
  await expect
    .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
    .toMatchObject({ status: 'review', entry_barrier: false })
  await page.reload()
  await openProject('Ferry')
  await openTask('Change two', 'Review')
  await panel.getByRole('button', { name: 'Merge into main' }).waitFor()

  // The base moves while it is open. Until both sides are there, nothing is said of them.
  const sides = Promise.withResolvers<void>()
  await page.route('**/conflicts', async (route) => {
    await sides.promise
    await route.continue()
  })
  await repository.commit('Say ours', { 'a.txt': 'one\nours\nthree\n' })
  const conflict = panel.getByRole('region', { name: 'Conflict with main' })
  await conflict.getByText('Loading both sides…').waitFor()
  expect(await conflict.getByText('no lines to show').count()).toBe(0)
  sides.resolve()
  await conflict.getByLabel('a.txt on main').getByText('ours', { exact: true }).waitFor()
  await conflict
    .getByLabel(/^a\.txt on svc\//)
    .getByText('theirs', { exact: true })
    .waitFor()
  await conflict.getByText('Say ours').waitFor()
  await conflict.getByText('If Writer resolves it').waitFor()
  expect(await conflict.getByRole('list').last().getByRole('listitem').count()).toBe(3)
  await panel.getByRole('button', { name: 'Let Writer resolve the conflict' }).waitFor()
  expect(await violationsInThemes(page), 'the conflict').toEqual([])
  const shots = process.env['COPSE_SHOTS']
  if (shots) await page.screenshot({ path: `${shots}/conflict.png` })
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await page.setViewportSize({ width: 1440, height: 900 })

  // It goes with its cause.
  await repository.git(['reset', '--quiet', '--hard', 'HEAD~1'])
  await conflict.waitFor({ state: 'detached' })
  await panel.getByRole('button', { name: 'Merge into main' }).waitFor()

  // What is being written outlasts one that comes and goes below it.
  await page.keyboard.press('Shift+R')
  const sheet = page.getByRole('dialog', { name: 'Request changes' })
  const words = sheet.getByRole('textbox', { name: 'What should change' })
  await words.fill('Say it twice.')
  const files = async () => (await client.call('tasks.get', { task_id: task.id })).base_conflict?.files ?? []
  await repository.commit('Say ours again', { 'a.txt': 'one\nours\nthree\n' })
  await expect.poll(files).toEqual(['a.txt'])
  await repository.git(['reset', '--quiet', '--hard', 'HEAD~1'])
  await expect.poll(files).toEqual([])
  expect(await words.inputValue()).toBe('Say it twice.')
  await sheet.getByRole('button', { name: 'Send' }).click()
  await sheet.waitFor({ state: 'detached' })
  await expect
    .poll(async () => (await client.call('tasks.executions', { task_id: task.id })).items[0]?.prompt)
    .toContain('Say it twice.')
})
