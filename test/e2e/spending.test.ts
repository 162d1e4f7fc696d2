import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('sets limits and prices, and shows their use at agent, run and queue', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'Paid', repo_path: repository.path })
  const told = JSON.stringify({ svc: { usage: { input_tokens: 900, output_tokens: 100, model: 'my-model' } } })
  const command = `echo '${told}'; echo hello; exec tail -f /dev/null`
  const agent = await client.call('agents.create', { name: 'Teller', executor: 'command', config: { command } })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Spend' })

  await page.evaluate((id) => (location.hash = `#/p/${id}/settings/limits`), project.id)
  await page.getByLabel('Each task, money').fill('2')
  await page.getByLabel('Each task, money').press('Enter')
  const prices = page.getByRole('region', { name: 'Prices' })
  await prices.getByLabel('Model to set a price for').fill('my-model')
  await prices.getByRole('button', { name: 'Add price' }).click()
  await prices.getByLabel('my-model, input', { exact: true }).fill('500')
  await prices.getByLabel('my-model, input', { exact: true }).press('Enter')
  await prices.getByText(/^List prices of \d{4}/).waitFor()
  await prices.getByText(/The list is of \d{4}-\d\d-\d\d, \d+ days? old/).waitFor()
  await expect
    .poll(async () => (await client.call('projects.get_settings', { project_id: project.id })).prices['my-model'])
    .toEqual({ input_usd_per_mtok: 500, output_usd_per_mtok: 0 })
  expect(await violationsInThemes(page), 'limits').toEqual([])

  await page.evaluate(() => (location.hash = '#/agents'))
  await page.getByRole('button', { name: 'More about Teller' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Money, in $').fill('3')
  await dialog.getByLabel('Account (optional)').fill('Team')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await client.call('agents.get', { agent_id: agent.id })).config).toMatchObject({
    command,
    limits: { per_day: { usd: 3, minutes: null } },
    account: 'Team',
  })

  const limited = { per_run: { turns: 5 }, per_task: { usd: 2 }, per_day: null, warn_at: 0.8 }
  await client.call('projects.update_settings', { project_id: project.id, limits: limited })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await page.evaluate(([id, of]) => (location.hash = `#/p/${id}/t/${of}/agent`), [project.id, task.id])
  const limits = page.getByRole('group', { name: 'Limits' })
  const meter = limits.getByRole('meter', { name: 'Limit for this task' })
  await expect.poll(() => meter.getAttribute('aria-valuetext')).toBe('$0.45 of $2.00')
  // Turns that it doesn't tell are unknown, not none, and their limit is said not to hold.
  await limits.getByText('This agent doesn’t show its requests').waitFor()
  const turns = limits.getByRole('meter', { name: 'Limit for a run' })
  expect(await turns.getAttribute('aria-valuetext')).toBe('Unknown of 5 turns')
  expect(await violationsInThemes(page), 'run').toEqual([])
  await page.getByRole('button', { name: /show the queue/ }).click()
  const queued = page.getByRole('meter', { name: 'Limit for this agent for today' })
  await expect.poll(() => queued.getAttribute('aria-valuetext')).toBe('$0.45 of $3.00')
  await page.evaluate(() => (location.hash = '#/agents'))
  const today = page.getByRole('table').first().getByRole('meter')
  await expect.poll(() => today.getAttribute('aria-valuetext')).toBe('$0.45 of $3.00')
})
