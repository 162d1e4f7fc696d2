import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

/** A folder outside every worktree: a file in it ends the agent of the task of that name. */
async function signFolder() {
  const path = await mkdtemp(join(tmpdir(), 'copse-queue-'))
  return {
    path,
    end: (title: string) => writeFile(join(path, title), ''),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

test('shows the order of three tasks for one slot, and starts the next on a higher limit', async () => {
  await using repository = await createTestRepository({ name: 'ferry', files: { 'a.txt': 'one\n' } })
  await using signs = await signFolder()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  await client.call('projects.update_settings', { project_id: project.id, max_concurrent_executions: 1 })
  const agent = await client.call('agents.create', {
    name: 'Worker',
    executor: 'command',
    config: { command: `until [ -e "${signs.path}/$SVC_TASK_TITLE" ]; do sleep 0.05; done; echo two > a.txt` },
  })
  await page.reload()
  await openProject('ferry')
  for (const title of ['First', 'Second', 'Third']) {
    const task = await client.call('tasks.create', { project_id: project.id, title })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  }
  const card = (title: string) => page.locator('[data-card]').filter({ hasText: title })
  await card('Second').getByText('Starts next').waitFor()
  await card('Third').getByText('2nd in queue').waitFor()

  // By keyboard alone: into the queue, over its rows, and out again.
  const slots = page.getByRole('button', { name: '1 of 1 running, show the queue' })
  await slots.focus()
  await page.keyboard.press('Enter')
  const queue = page.getByRole('dialog', { name: 'Queue' })
  const rows = async () => (await queue.getByRole('listitem').allInnerTexts()).map((row) => row.split('\n')[0])
  const turns = async () =>
    (await queue.getByRole('list', { name: 'Queue' }).getByRole('listitem').allInnerTexts()).map((row) =>
      row.replace('\n', ': '),
    )
  await expect.poll(turns).toEqual(['Second: Starts next', 'Third: 2nd in queue'])
  expect(await rows()).toEqual(['First', 'Second', 'Third'])
  expect(await violationsInThemes(page), 'queue').toEqual([])
  await page.keyboard.press('Escape')
  await queue.waitFor({ state: 'detached' })
  expect(await slots.evaluate((button) => button.matches(':focus'))).toBe(true)

  // A pause is shown at once, and undone.
  await page.keyboard.press('Enter')
  await client.call('projects.update', { project_id: project.id, paused_at: new Date().toISOString() })
  await expect.poll(turns).toEqual(['Second: Project paused', 'Third: Project paused'])
  await client.call('projects.update', { project_id: project.id, paused_at: null })
  await expect.poll(turns).toEqual(['Second: Starts next', 'Third: 2nd in queue'])

  // A waiting run is moved: by keys on its row, by its menu, and elsewhere.
  const row = queue.getByRole('link', { name: /Third/ })
  await row.focus()
  await page.keyboard.press('Alt+ArrowUp')
  await expect.poll(turns).toEqual(['Third: Starts next', 'Second: 2nd in queue'])
  await expect.poll(() => row.evaluate((one) => one === document.activeElement)).toBe(true)
  await page.keyboard.press('Alt+ArrowDown')
  await expect.poll(turns).toEqual(['Second: Starts next', 'Third: 2nd in queue'])
  await queue.getByRole('button', { name: 'Move Third' }).click()
  expect(await violationsInThemes(page), 'queue menu').toEqual([])
  await page.getByRole('menuitem', { name: 'Move to the front' }).click()
  await expect.poll(turns).toEqual(['Third: Starts next', 'Second: 2nd in queue'])
  const { waiting } = await client.call('projects.queue', { project_id: project.id })
  const second = waiting.find(({ title }) => title === 'Second')?.execution_id ?? ''
  await client.call('executions.move_in_queue', { execution_id: second, to: 'first' })
  await expect.poll(turns).toEqual(['Second: Starts next', 'Third: 2nd in queue'])

  // The limit is changed where it is shown.
  await queue.getByRole('button', { name: 'Change limit' }).click()
  await page.keyboard.press('Escape')
  await queue.getByRole('button', { name: 'Change limit' }).click()
  await page.keyboard.type('2')
  await page.keyboard.press('Enter')
  await expect.poll(turns).toEqual(['Third: Starts next'])
  await queue.getByText('2 of 2', { exact: true }).waitFor()

  // An ended run makes room for the next, and the row of a task opens it.
  await signs.end('First')
  await queue.getByText('Nothing queued.').waitFor()
  expect((await rows()).toSorted()).toEqual(['Second', 'Third'])
  await queue.getByRole('link', { name: /Third/ }).focus()
  await page.keyboard.press('Enter')
  await panel.getByRole('heading', { name: 'Third' }).waitFor()
  await queue.waitFor({ state: 'detached' })
  await signs.end('Second')
  await signs.end('Third')
  await page.getByRole('button', { name: '0 of 2 running, show the queue' }).waitFor()
})

test('shows a stalled agent until it is active again, and ends it from its card', async () => {
  await using repository = await createTestRepository({ name: 'ferry', files: { 'a.txt': 'one\n' } })
  await using signs = await signFolder()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage(checkedPage), service)
  // The service checks every 15 seconds.
  page.setDefaultTimeout(40_000)
  const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  await client.call('projects.update_settings', { project_id: project.id, stall_after_seconds: 1 })
  const agent = await client.call('agents.create', {
    name: 'Thinker',
    executor: 'command',
    config: { command: `until [ -e "${signs.path}/$SVC_TASK_TITLE" ]; do sleep 0.05; done; echo Eureka; sleep 600` },
  })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Think' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await page.reload()
  await openProject('ferry')
  const row = page.getByRole('listitem').filter({ has: page.locator('[data-card]') })
  await row.getByText(/^Quiet for \d+ s$/).waitFor()
  await row.getByRole('button', { name: 'Stop the agent of “Think”' }).waitFor()
  await openTask('Think', 'Agent')
  await panel.getByText(/^Quiet for/).waitFor()
  await panel.getByRole('button', { name: /^Stop/ }).waitFor()
  expect(await violationsInThemes(page), 'quiet').toEqual([])
  // A reload forgets nothing of it.
  await page.reload()
  await row.getByText(/^Quiet for/).waitFor()
  await signs.end('Think')
  await row.getByText('Eureka').waitFor()
  expect(await page.getByText(/^Quiet for/).count()).toBe(0)
  await row.getByText(/^Quiet for/).waitFor()
  await row.getByRole('button', { name: 'Stop the agent of “Think”' }).click()
  await expect
    .poll(async () => (await client.call('tasks.executions', { task_id: task.id })).items[0]?.status)
    .toBe('stopped')
  await row.getByText(/^Quiet for/).waitFor({ state: 'detached' })
})

/** Claude Code's output for a run with costs. */
const pricedRun = [
  { type: 'system', subtype: 'init' },
  { type: 'assistant', message: { content: [{ type: 'text', text: 'Done.' }] } },
  {
    type: 'result',
    subtype: 'success',
    result: 'Done.',
    total_cost_usd: 0.84,
    usage: { input_tokens: 170_000, output_tokens: 14_000 },
  },
].map((line) => `echo '${JSON.stringify({ session_id: 's', ...line })}'`)

test('shows what a run, task and project have used, with times', async () => {
  await using repository = await createTestRepository({ name: 'ferry', files: { 'a.txt': 'one\n' } })
  await using signs = await signFolder()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  const program = join(signs.path, 'claude')
  await writeFile(program, ['#!/bin/sh', 'echo two > a.txt', ...pricedRun].join('\n'))
  await chmod(program, 0o755)
  const agent = await client.call('agents.create', {
    name: 'Claude',
    executor: 'claude-code',
    config: { command: program },
  })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Count the cost' })
  await page.reload()
  await openProject('ferry')
  await openTask('Count the cost', 'Overview')
  expect(await panel.getByText('Used', { exact: true }).count()).toBe(0)
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await panel.getByText('Used', { exact: true }).waitFor()
  await panel.getByText('$0.84, 1 run').waitFor()
  await panel.getByRole('tab', { name: 'Agent' }).click()
  await panel.getByText('184k tokens').waitFor()
  await panel.getByText('$0.84', { exact: true }).waitFor()

  await page.goto(`${new URL(page.url()).origin}/#/p/${project.id}/settings/limits`)
  await page.getByRole('row', { name: 'Claude 1 184k $0.84' }).waitFor()
  await page.getByRole('button', { name: 'By task' }).click()
  await page.getByRole('row', { name: 'Count the cost 1 184k $0.84' }).waitFor()
  const set = async (label: string, value: string) => {
    await page.getByLabel(label).fill(value)
    await page.keyboard.press('Tab')
  }
  const saved = async () => {
    const settings = await client.call('projects.get_settings', { project_id: project.id })
    return [settings.execution_timeout_seconds, settings.stall_after_seconds]
  }
  await set('Time limit per run', '90')
  await expect.poll(saved).toEqual([5_400, 600])
  await set('Time limit per run', '')
  await expect.poll(saved).toEqual([null, 600])
  // Out of range: nothing is saved, and the field says why.
  await set('Warn when an agent is silent for', '2000')
  expect(await page.getByLabel('Warn when an agent is silent for').evaluate((field) => field.matches(':invalid'))).toBe(
    true,
  )
  await set('Warn when an agent is silent for', '0.5')
  await expect.poll(saved).toEqual([null, 30])
  expect(await violationsInThemes(page), 'usage').toEqual([])
})
