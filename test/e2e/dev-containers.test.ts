import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { openLocally } from './harness/local-page.ts'
import { expectRoomOnPhone, shoot, startWithEngine } from './harness/runner-pages.ts'

test('starts a task in the dev container of its project once an admin has trusted it', async () => {
  const wanted = {
    image: 'node:24',
    initializeCommand: 'true',
    mounts: ['source=${localEnv:HOME}/.cache/ferry,target=/cache,type=bind'],
    runArgs: ['--device=/dev/kvm'],
  }
  const files = { '.devcontainer/devcontainer.json': JSON.stringify(wanted) }
  await using repository = await createTestRepository({ name: 'ferry', files })
  await using service = await startWithEngine()
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const config = { command: 'echo done > done.txt' }
  await client.call('agents.create', { name: 'Writer', executor: 'command', config })
  const task = await client.call('tasks.create', { project_id, title: 'Paint the hull' })

  await page.goto(`${new URL(service.url).origin}/#/settings/runners`)
  await page.getByRole('button', { name: 'Add runner' }).click()
  const form = page.getByRole('dialog', { name: 'Add runner' })
  await form.getByLabel('Name').fill('Dev')
  await form.getByLabel('Made from').selectOption('The project’s dev container')
  expect(await form.getByLabel('Image').count()).toBe(0)
  await form.getByLabel('Engine', { exact: true }).selectOption('docker')
  expect(await violationsInThemes(page), 'form').toEqual([])
  await expectRoomOnPhone(page, 'dev form')
  await shoot(page, 'dev-form')
  await form.getByRole('button', { name: 'Add runner' }).click()
  const check = page.getByRole('status', { name: 'Check of Dev' })
  await check.getByText('Dev is ready').waitFor()
  await check.getByText('is built by @devcontainers/cli').waitFor()
  await shoot(page, 'dev-check')
  const [, dev] = (await client.call('runners.list', {})).items
  const runner_id = dev?.id ?? ''

  await page.goto(`${new URL(service.url).origin}/#/p/${project_id}`)
  const card = page.locator('[data-card]').filter({ hasText: 'Paint the hull' })
  const start = async () => {
    await card.focus()
    await page.keyboard.press('s')
    const choice = page.getByRole('dialog', { name: 'Who should do this?' })
    await choice.getByLabel('Runs on').selectOption(runner_id)
    await choice.getByRole('button', { name: /Writer/ }).click()
  }
  await start()
  const dialog = page.getByRole('dialog', { name: 'Trust this dev container?' })
  await dialog.getByText('wants to reach the machine of Dev').waitFor()
  for (const text of [
    'source=${localEnv:HOME}/.cache/ferry,target=/cache,type=bind',
    'runArgs --device=/dev/kvm',
    'HOME',
  ])
    await dialog.getByText(text, { exact: true }).waitFor()
  expect(await violationsInThemes(page), 'trust').toEqual([])
  await expectRoomOnPhone(page, 'trust')
  await shoot(page, 'trust')
  // Nothing has happened yet, and nothing does without a word.
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  expect((await client.call('tasks.executions', { task_id: task.id })).items).toEqual([])
  await start()
  await dialog.getByRole('button', { name: 'Trust and start' }).click()
  await dialog.waitFor({ state: 'detached' })
  await expect
    .poll(() => client.call('tasks.executions', { task_id: task.id }), { timeout: 60_000 })
    .toMatchObject({ items: [{ runner_id, status: 'succeeded' }] })
})
