import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('shows nearby repositories and installed agents, and how to install others', async () => {
  await using repository = await createTestRepository({ name: 'ferry', files: { 'a.txt': 'one\n' } })
  const home = join(repository.beside, 'home')
  await mkdir(join(home, 'code'), { recursive: true })
  const path = join(home, 'code', 'ferry')
  await cp(repository.path, path, { recursive: true })
  await using service = await startBuiltService({ as: 'local', env: { HOME: home, USERPROFILE: home } })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)

  const nearby = page.getByRole('region', { name: 'Found nearby' })
  await nearby.getByRole('button', { name: /^ferry/ }).waitFor()
  const agents = page.getByRole('heading', { name: 'Agents on this machine' })
  await agents.waitFor()
  const fold = page.locator('summary').filter({ hasText: /\d+ (other|agent)s? you can install/ })
  await fold.waitFor()
  expect(await page.getByText('Not found').first().isVisible()).toBe(false)
  await fold.click()
  const copy = page.getByRole('button', { name: /^Copy npm install/ }).first()
  await copy.waitFor()
  expect(await violationsInThemes(page), 'first run').toEqual([])

  // On a small screen everything is in one column, and nothing is cut off at the side.
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  expect(await violationsInThemes(page), 'narrow').toEqual([])
  await page.setViewportSize(checkedPage.viewport)

  await nearby.getByRole('button', { name: /^ferry/ }).click()
  expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('ferry')
  await page.getByRole('button', { name: /add project/i }).click()
  await page
    .getByRole('button', { name: /New task/ })
    .first()
    .waitFor()
  // A repository with a project is no longer listed.
  expect((await client.call('projects.list', {})).items[0]?.repos[0]?.path).toBe(path)
  expect(await client.call('system.nearby_repositories', {})).toEqual({ items: [] })
})

test('leads from the repository by an agent to the first task, ticking each off', async () => {
  await using repository = await createTestRepository({ name: 'ferry', files: { 'a.txt': 'one\n' } })
  const bin = join(repository.beside, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'claude'), '#!/bin/sh\necho "2.1.0 (Claude Code)"\n', { mode: 0o755 })
  const env = { HOME: repository.beside, USERPROFILE: repository.beside, PATH: `${bin}:${process.env['PATH'] ?? ''}` }
  await using service = await startBuiltService({ as: 'local', env })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const steps = page.getByRole('list', { name: 'First steps' })
  const done = () => steps.getByRole('listitem').filter({ hasText: '(done)' }).allInnerTexts()
  await steps.waitFor()
  expect(await done()).toEqual([])

  await page.getByLabel(/^Repository folder/).fill(repository.path)
  await page.getByRole('button', { name: 'Open folder' }).click()
  await page.getByRole('button', { name: /add project/i }).click()
  await page.getByRole('heading', { name: 'No agents yet' }).waitFor()
  expect(await steps.locator('[aria-current=step]').innerText()).toContain('Add an agent')
  const add = page.getByRole('button', { name: 'Add Claude Code' })
  await add.waitFor()
  expect(await violationsInThemes(page), 'no agent').toEqual([])
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  await page.setViewportSize(checkedPage.viewport)

  await add.click()
  await page.getByRole('heading', { name: 'No tasks yet' }).waitFor()
  expect((await client.call('agents.list', {})).items.map(({ name, executor }) => [name, executor])).toEqual([
    ['Claude Code', 'claude-code'],
  ])
  expect(await steps.locator('[aria-current=step]').innerText()).toContain('Create the first task')
  await page.keyboard.press('c')
  await page.getByRole('dialog').getByLabel('Title').fill('Count the passengers')
  await page.keyboard.press('Control+Enter')
  await page.locator('[data-card]').filter({ hasText: 'Count' }).waitFor()
  await steps.waitFor({ state: 'detached' })
})
