import Database from 'better-sqlite3'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readMachine } from '../../src-main/containment/machine.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const isAble = readMachine().available

test('sets the containment of agents and scripts, and offers it to older agents', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  await using service = await startBuiltService({ as: 'local', env: { SVC_CONTAINMENT: 'auto' } })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  const config = { command: 'true' }
  const old = await client.call('agents.create', { name: 'Old hand', executor: 'command', config })
  const database = new Database(join(service.dataDir, 'copse.db'))
  database.prepare(`UPDATE agents SET config = '{"command":"true"}'`).run()
  database.close()
  await page.evaluate(() => (location.hash = '#/agents'))
  await page.reload()
  const agentNow = async (agent_id: string) => (await client.call('agents.get', { agent_id })).config

  if (isAble) {
    const offer = page.getByText('Old hand runs with all your rights.')
    await offer.waitFor()
    expect(await violationsInThemes(page), 'the offer').toEqual([])
    await page.getByRole('button', { name: 'Contain', exact: true }).click()
    await offer.waitFor({ state: 'detached' })
    expect((await agentNow(old.id)).containment).toBe('auto')
  }

  await page.getByRole('button', { name: 'Add agent' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Type').selectOption('command')
  await dialog.getByLabel('Name', { exact: true }).fill('Careful')
  await dialog.getByLabel('Command', { exact: true }).fill('true')
  const level = dialog.getByLabel('Containment')
  expect(await level.inputValue()).toBe('auto')
  expect(await dialog.getByLabel('Allowed hosts, one per line').count()).toBe(0)
  await level.selectOption('worktree_and_hosts')
  const hosts = dialog.getByLabel('Allowed hosts, one per line')
  expect(await hosts.inputValue()).toContain('registry.npmjs.org\n')
  await hosts.fill('a.test')
  await dialog.getByRole('button', { name: 'Add package registries and remotes' }).click()
  expect(await hosts.inputValue()).toMatch(/^a\.test\n[^]*registry\.npmjs\.org\n/)
  await hosts.fill('a.test\nb.test')
  await dialog.getByLabel('Extra paths to write').fill(service.dataDir)
  expect(await violationsInThemes(page), 'the form').toEqual([])
  await dialog.getByRole('button', { name: 'Add agent' }).click()
  await dialog.getByText('holds the data folder').or(dialog.getByText('lies in the data folder')).waitFor()
  await dialog.getByLabel('Extra paths to write').fill('~/out')
  await dialog.getByRole('button', { name: 'Add agent' }).click()
  await dialog.waitFor({ state: 'detached' })
  const { items } = await client.call('agents.list', {})
  expect(items.find(({ name }) => name === 'Careful')?.config).toEqual({
    command: 'true',
    containment: 'worktree_and_hosts',
    allowed_hosts: ['a.test', 'b.test'],
    extra_paths: { write: ['~/out'] },
  })

  await page.evaluate((id) => (location.hash = `#/p/${id}/settings/containment`), project.id)
  const loose = await client.call('agents.create', {
    name: 'Loose',
    executor: 'command',
    config: { command: 'true', containment: 'none' },
  })
  if (isAble) {
    await page.getByText('Not contained: Loose.').waitFor()
    await page.getByRole('button', { name: 'Contain it' }).click()
    await page.getByText('Not contained: Loose.').waitFor({ state: 'detached' })
    expect((await agentNow(loose.id)).containment).toBe('auto')
  }
  const scripts = page.getByRole('combobox', { name: 'Containment' })
  await expect.poll(() => scripts.inputValue()).toBe('auto')
  await scripts.selectOption('worktree')
  await page.getByLabel('Extra paths to read').fill('/srv/models')
  expect(await violationsInThemes(page), 'the settings').toEqual([])
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved', { exact: true }).waitFor()
  expect(await client.call('projects.get_settings', { project_id: project.id })).toMatchObject({
    ci_containment: 'worktree',
    extra_paths: { read: ['/srv/models'] },
  })
})

test.runIf(isAble)('shows a run’s containment and denials, and allows what was denied', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  const command = 'for n in 1 2 3; do curl -s -m 5 http://denied.test/; done; echo work > work.txt'
  const config = { command, containment: 'worktree_and_hosts' as const, allowed_hosts: ['a.test'] }
  const agent = await client.call('agents.create', { name: 'Curious', executor: 'command', config })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Look around' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await page.reload()
  await openProject('ferry')
  await page.locator('[data-card]').filter({ hasText: 'Look around' }).click()
  await panel.getByRole('tab', { name: 'Agent' }).click()
  await panel.getByText('Contained to its worktree, commits and package caches, and to the hosts it needs.').waitFor()
  const row = panel.getByText('Blocked host denied.test, 3 times')
  await row.waitFor()
  expect(await violationsInThemes(page), 'the log').toEqual([])
  await panel.getByRole('button', { name: 'Allow this host' }).click()
  await panel.getByText('Allowed from the next run').waitFor()
  const { config: now } = await client.call('agents.get', { agent_id: agent.id })
  expect(now).toEqual({ ...config, allowed_hosts: ['a.test', 'denied.test'] })
})

test.runIf(isAble && process.platform === 'linux')('keeps what an agent wrote to its private home', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  const home = await mkdtemp('/var/tmp/copse-home-')
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  await using service = await startBuiltService({ as: 'local', env: { HOME: home } })
  await using browser = await launchChromium()
  const { page, client, panel, openProject } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  const writes =
    'mkdir -p ~/.wren ~/.config/wren; echo one > ~/.wren/state; echo two > ~/.config/wren/model; echo x > ~/.bashrc'
  const config = { command: `${writes}; echo work > work.txt`, containment: 'worktree' as const }
  const agent = await client.call('agents.create', { name: 'Wren', executor: 'command', config })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Look around' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  // The form asks once, when it opens.
  await expect.poll(async () => (await client.call('tasks.get', { task_id: task.id })).status).toBe('review')
  await page.reload()
  await page.evaluate(() => (location.hash = '#/agents'))
  await page.getByRole('button', { name: 'More about Wren' }).click()
  await page.getByRole('menuitem', { name: 'Edit…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Stays private').waitFor()
  expect(await violationsInThemes(page), 'the form').toEqual([])
  if (process.env['SHOTS']) await page.screenshot({ path: join(process.env['SHOTS'], 'agent-home.png') })
  await dialog.getByRole('button', { name: 'Keep ~/.config/wren' }).click()
  await expect.poll(() => dialog.getByLabel('Extra paths to write').inputValue()).toBe('~/.config/wren')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect(readFileSync(join(home, '.config/wren/model'), 'utf8')).toBe('two\n')

  await openProject('ferry')
  await page.locator('[data-card]').filter({ hasText: 'Look around' }).click()
  await panel.getByRole('tab', { name: 'Agent' }).click()
  await panel.getByText('Wren wrote ~/.config/wren, ~/.wren').waitFor()
  expect(await violationsInThemes(page), 'the log').toEqual([])
  if (process.env['SHOTS']) await page.screenshot({ path: join(process.env['SHOTS'], 'wrote.png') })
  await panel.getByRole('button', { name: 'Keep for this agent' }).click()
  await panel.getByText('Kept for this agent').waitFor()
  expect(readFileSync(join(home, '.wren/state'), 'utf8')).toBe('one\n')
})
