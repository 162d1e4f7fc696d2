import { executorInfos, executorProfiles } from '../../src-shared/contract/executor-profiles.ts'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('adds, tests, copies and removes an agent of every kind', async () => {
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const page = await browser.newPage(checkedPage)
  page.setDefaultTimeout(80_000)
  await page.goto(service.url)
  await page.getByRole('button', { name: /demo project/i }).waitFor()
  await page.evaluate(() => (location.hash = '#/agents'))
  await page.getByRole('heading', { name: 'No agents yet' }).waitFor()
  await page.getByText('No remote machines yet.').waitFor()
  expect(await violationsInThemes(page), 'no agents').toEqual([])

  const table = page.getByRole('table').first()
  for (const executor of executorProfiles) {
    const { name, command, model, args, env } = executorInfos[executor]
    await page.getByRole('button', { name: 'Add agent' }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Type').selectOption(executor)
    await dialog.getByLabel('Name', { exact: true }).fill(`My ${name}`)
    const seen = async (label: string | RegExp) => (await dialog.getByLabel(label).count()) > 0
    expect(
      [
        await seen(/^Command$|^Program path/),
        await seen(/^Model/),
        await seen(/^Extra arguments/),
        await seen('Permissions'),
      ],
      executor,
    ).toEqual([command !== null, model, args, executorInfos[executor].permissions.length > 1])
    if (command === 'line') await dialog.getByLabel('Command', { exact: true }).fill('echo ready; cat >/dev/null')
    if (env) {
      await dialog.getByRole('button', { name: 'Add variable' }).click()
      await dialog.getByLabel('Name of variable 1').fill('TOKEN')
      await dialog.getByLabel('Value of TOKEN').fill('secret')
      expect(await dialog.getByLabel('Value of TOKEN').getAttribute('type')).toBe('password')
    }
    if (executor === 'claude-code') {
      await dialog.getByLabel('Extra arguments, one per line').fill('--print\n--add-dir\n../docs')
      await dialog.getByLabel('Name', { exact: true }).focus()
      await dialog.getByText('because Copse sets them: --print').waitFor()
      await dialog.getByLabel('Permissions').selectOption('ask')
      expect(await violationsInThemes(page), 'dialog').toEqual([])
      // Neither a click outside nor Escape discards what was typed; Cancel does.
      await page.mouse.click(5, 5)
      expect(await dialog.getByLabel('Value of TOKEN').inputValue()).toBe('secret')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Add agent' }).first().click()
      expect(await dialog.getByLabel('Value of TOKEN').inputValue()).toBe('secret')
      await dialog.getByText('because Copse sets them: --print').waitFor()
    }
    await dialog.getByRole('button', { name: 'Add agent' }).click()
    await dialog.waitFor({ state: 'detached' })
    await table.getByText(`My ${name}`, { exact: true }).waitFor()
  }

  await page.getByRole('button', { name: 'Test run of My Command' }).click()
  const panel = page.getByRole('status', { name: 'Test run of My Command' })
  await panel.getByText('Ended without errors').waitFor()
  expect(await panel.getByLabel('What My Command said').innerText()).toContain('ready')
  expect(await violationsInThemes(page), 'all agents').toEqual([])

  await page.getByRole('button', { name: 'More about My Claude Code' }).click()
  await page.getByRole('menuitem', { name: 'Duplicate as a variant' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Another name')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'More about My Claude Code' }).click()
  await page.getByRole('menuitem', { name: 'Duplicate as a variant' }).click()
  expect(await dialog.getByLabel('Name', { exact: true }).inputValue()).toBe('My Claude Code 2')
  expect(await dialog.getByLabel('Permissions').inputValue()).toBe('ask')
  await dialog.getByLabel('Model (optional)').fill('opus')
  await dialog.getByLabel('Extra arguments, one per line').press('Control+Enter')
  await table.getByText('claude-code · opus', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'More about My Claude Code 2' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete My Claude Code 2' }).click()
  await table.getByText('My Claude Code 2', { exact: true }).waitFor({ state: 'detached' })

  await page.getByLabel('Name of the machine').fill('alder')
  await page.getByRole('button', { name: 'Add machine' }).click()
  await page.getByText('You won’t see it again').waitFor()
  expect(await violationsInThemes(page), 'daemon').toEqual([])
  await page.getByRole('button', { name: 'Revoke…' }).click()
  await page.getByRole('button', { name: 'Revoke alder' }).click()
  await page.getByText('No remote machines yet.').waitFor()
})

test('tells projects and agents apart that begin with the same letters', async () => {
  await using one = await createTestRepository({ name: 'docs' })
  await using other = await createTestRepository({ name: 'demo' })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  await client.call('projects.create', { name: 'Docs', repo_path: one.path })
  await client.call('projects.create', { name: 'Demo', repo_path: other.path })
  for (const [name, command] of [
    ['Claude Code', 'sh scripts/agents/in-a-long-folder/write.sh'],
    ['Collider', 'sh scripts/agents/in-a-long-folder/collide.sh'],
  ] as const)
    await client.call('agents.create', { name, executor: 'command', config: { command } })
  await page.evaluate(() => (location.hash = '#/agents'))

  const rail = page.getByRole('navigation', { name: 'Main' })
  await rail.getByText('Demo').waitFor()
  expect(await rail.locator('.tile').allInnerTexts()).toEqual(['De', 'D'])
  const rows = page.getByRole('table').first().locator('tbody tr')
  await rows.filter({ hasText: 'Collider' }).waitFor()
  const cells = (await rows.all()).map((row) => row.locator('td').allInnerTexts())
  const texts = (await Promise.all(cells)).map((row) => row.slice(0, 3).map((text) => text.replaceAll('\n', ' ')))
  expect(texts).toEqual([
    ['Cl Claude Code command · …write.sh', '—', 'Not checked'],
    ['Co Collider command · …collide.sh', '—', 'Not checked'],
  ])
  await page.getByTitle('command · sh scripts/agents/in-a-long-folder/write.sh').waitFor()
  expect(await violationsInThemes(page), 'two agents').toEqual([])
})
