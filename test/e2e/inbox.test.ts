import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Client } from '../../src-shared/client/create-client.ts'
import type { ProjectId } from '../../src-shared/contract/ids.ts'
import { writeAskingClaude } from '../helpers/asking-claude.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { violations } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const row = (page: Page, title: RegExp) => page.getByRole('option', { name: title })
const rail = (page: Page) => page.getByRole('navigation', { name: 'Main' })

test('reads, marks, filters, deletes and opens notifications', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true })
  const { page, client } = await openLocally(await context.newPage(), service)
  const project = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const definition = await mergingByItself(client, project.id)
  await client.call('projects.update', { project_id: project.id, workflow_definition: definition })
  const config = { command: 'echo one > one.txt && git add one.txt && git commit -qm One' }
  const { id: agent_id } = await client.call('agents.create', { name: 'Worker', executor: 'command', config })
  const { id: task_id } = await client.call('tasks.create', { project_id: project.id, title: 'Add one' })
  await client.call('tasks.claim', { task_id, agent_id })
  await rail(page).getByRole('link', { name: /Inbox/ }).click()
  await row(page, /· Done/).waitFor()
  // One row per task in its current state; the earlier passed review is over.
  expect(await page.getByRole('option').count()).toBe(1)
  expect(await violations(page), 'inbox').toEqual([])

  const list = page.getByRole('listbox', { name: 'Notifications' })
  await list.focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Home')
  await page.getByRole('checkbox', { name: 'Unread' }).click()
  await page.getByRole('heading', { name: 'No matching notifications' }).waitFor()
  await page.getByRole('button', { name: 'Show all' }).click()
  await row(page, /· Done/).click()
  await page.keyboard.press('u')
  await row(page, /^Unread.*· Done/).waitFor()
  await rail(page)
    .getByRole('link', { name: /Inbox.*1.*unread/ })
    .waitFor()
  await page.getByRole('button', { name: 'Mark all read' }).click()
  await page.getByText('0 unread').waitFor()

  await page.getByRole('button', { name: 'Failed' }).click()
  await page.getByRole('heading', { name: 'No matching notifications' }).waitFor()
  await page.getByRole('button', { name: 'Finished' }).click()
  await row(page, /· Done/).click()
  await page.keyboard.press('Delete')
  await row(page, /· Done/).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'All', exact: true }).click()
  await row(page, /ready for review/).click()
  await page.getByRole('heading', { name: /^Changed files/ }).waitFor()
  await page.getByRole('button', { name: /Open task/ }).click()
  await page.locator('[data-task-panel]').waitFor()
  expect(page.url()).toMatch(/#\/p\/[^/]+\/t\//)
})

/** The shipped workflow, but a passed review leads to the merge without a person. */
async function mergingByItself(client: Client, project_id: ProjectId): Promise<string> {
  const definition = await client.call('projects.get_workflow', { project_id })
  const states = definition.states.map((state) => {
    if (state.name !== 'review') return state
    const auto = { plugin: 'auto_cascade_on_review_pass', on_success: { cascade: 'merging' } }
    return { ...state, hooks: { ...state.hooks, after_enter: [auto] } }
  })
  return JSON.stringify({ ...definition, states })
}

test('merges a passed review from the inbox, and opens the attempts of one that failed too often', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(), service)
  const project = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const config = { command: 'echo one > one.txt && git add one.txt && git commit -qm One' }
  const { id: agent_id } = await client.call('agents.create', { name: 'Worker', executor: 'command', config })
  const { id: task_id } = await client.call('tasks.create', { project_id: project.id, title: 'Add one' })
  await client.call('tasks.claim', { task_id, agent_id })
  const review_config = { ci_steps: ['exit 1'] }
  const other = { name: 'Other', executor: 'command', config: { command: 'date +%N >> two.txt' } } as const
  const { id: never } = await client.call('tasks.create', { project_id: project.id, title: 'Add two', review_config })
  await client.call('tasks.claim', { task_id: never, agent_id: (await client.call('agents.create', other)).id })
  await rail(page).getByRole('link', { name: /Inbox/ }).click()
  await row(page, /Add one.*Nothing checked/).click()
  await page.getByRole('group', { name: 'Change of one.txt' }).getByText('one', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Merge into main' }).click()
  await expect.poll(async () => (await client.call('tasks.get', { task_id })).status).toBe('done')
  // One's own merge makes no row, and ends the one before.
  await row(page, /Add one/).waitFor({ state: 'detached' })
  expect(await repository.git(['show', 'main:one.txt'])).toContain('one')

  await row(page, /Add two.*Too many failed reviews/).click({ timeout: 80_000 })
  await page.getByRole('button', { name: /^Open task/ }).click()
  await page.getByRole('button', { name: 'Show attempts' }).click()
  await page.getByRole('img', { name: '3 of 3 failed reviews' }).waitFor()
  expect(await page.locator('[data-card][aria-current]').textContent()).toContain('Sent back 3/3')
})

test('turns notifications on per device, off by default', async () => {
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const context = await browser.newContext({ bypassCSP: true })
  const page = await context.newPage()
  page.setDefaultTimeout(80_000)
  await page.goto(service.url)
  await page.getByRole('button', { name: /demo project/i }).click()
  await page.locator('[data-card]').first().waitFor()
  await page.evaluate("location.hash = '#/settings/notifications'")
  const names = ['System notifications', 'Sound', /^Mute /] as const
  const states = async () =>
    Promise.all(names.map((name) => page.getByRole('switch', { name }).first().getAttribute('aria-checked')))
  await page.getByRole('switch', { name: 'Sound' }).waitFor()
  expect(await states()).toEqual(['false', 'false', 'false'])
  expect(await violations(page), 'notification settings').toEqual([])
  await page.evaluate("Notification.requestPermission = () => Promise.resolve('denied')")
  await page.getByRole('switch', { name: 'System notifications' }).click()
  await page.getByText('does not let this page show notifications').waitFor()
  await page.getByRole('switch', { name: 'Sound' }).click()
  await page
    .getByRole('switch', { name: /^Mute / })
    .first()
    .click()
  expect(await states()).toEqual(['false', 'true', 'true'])
  await page.reload()
  await page.getByRole('switch', { name: 'Sound' }).waitFor()
  expect(await states()).toEqual(['false', 'true', 'true'])
  // The inbox has the same switch, even before its list is loaded.
  const opened = Promise.withResolvers<void>()
  await page.route(/\/notifications\?/, (route) => opened.promise.then(() => route.continue()), { times: 1 })
  await page.evaluate("location.hash = '#/inbox'")
  await page.getByRole('button', { name: 'Delivery' }).click()
  await page.getByRole('dialog', { name: 'Delivery' }).waitFor()
  opened.resolve()
  await page.getByRole('listbox', { name: 'Notifications' }).waitFor()
  expect(await states()).toEqual(['false', 'true', 'true'])
  expect(await violations(page), 'delivery').toEqual([])
})

test('answers questions and sees failures in sections, without opening a task', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage({ bypassCSP: true }), service)
  const project = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const begin = async (title: string, agent: Parameters<typeof client.call<'agents.create'>>[1]) => {
    const task = await client.call('tasks.create', { project_id: project.id, title })
    await client.call('tasks.claim', { task_id: task.id, agent_id: (await client.call('agents.create', agent)).id })
    return task.id
  }
  const breaker = {
    name: 'Breaker',
    executor: 'command',
    config: { command: 'test -e ../go && sleep 100; exit 3' },
  } as const
  const broken = await begin('Breaks', breaker)
  const asking = async (number: number) => {
    const folder = join(service.dataDir, `asker-${number}`)
    await mkdir(folder)
    const requests = [{ tool_name: 'Bash', input: { command: `deploy ${number}` } }]
    const config = { command: await writeAskingClaude(folder, requests), permissions: 'ask' } as const
    return begin(`Job ${number}`, { name: `Asker ${number}`, executor: 'claude-code', config })
  }
  const first = await asking(1)
  const second = await asking(2)
  await rail(page).getByRole('link', { name: /Inbox/ }).click()
  await expect.poll(() => page.getByRole('option').count(), { timeout: 80_000 }).toBe(3)
  await page.getByText('Needs you, 3').waitFor()
  await row(page, /Breaks.*Ferry · /).waitFor()
  expect(await violations(page), 'sections').toEqual([])

  // Two presses answer two agents: a row that was answered goes, and the next takes its place.
  const list = page.getByRole('listbox', { name: 'Notifications' })
  await list.focus()
  const pane = page.getByRole('region', { name: 'Notification' })
  for (const number of [2, 1]) {
    await row(page, new RegExp(`Job ${number}`)).click()
    await list.focus()
    const box = pane.getByRole('region', { name: `Wants to run deploy ${number}` })
    await box.getByRole('button', { name: 'Allow', exact: true, disabled: false }).waitFor()
    await page.keyboard.press('1')
    await box.waitFor({ state: 'detached' })
  }
  for (const task_id of [first, second]) {
    const summary = async () => (await client.call('tasks.executions', { task_id })).items[0]?.summary
    await expect.poll(summary, { timeout: 80_000 }).toBe('Answered: allow')
  }
  // A failure whose task runs again needs no one.
  const { path } = await client.call('tasks.workspace', { task_id: broken })
  await writeFile(join(path ?? '', '..', 'go'), '')
  await client.call('tasks.recover', { task_id: broken, action: 'retry_execution' })
  await page.getByText('For your information').waitFor()
  await row(page, /Breaks.*Breaker is working on it/).waitFor()
})
