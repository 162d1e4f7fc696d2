import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { violations } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const row = (page: Page, title: RegExp) => page.getByRole('option', { name: title })
const rail = (page: Page) => page.getByRole('navigation', { name: 'Main' })

test('reads, marks, filters, deletes and opens notifications', async () => {
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: true })
  const page = await context.newPage()
  page.setDefaultTimeout(30_000)
  await page.goto(service.url)
  await page.getByRole('button', { name: /demo project/i }).click()
  // The demo takes its task from claim to merge: a passed review, and a finished task.
  await page.getByRole('region', { name: /^Done/ }).locator('[data-card]').waitFor()
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
  await row(page, /Ready for your review/).click()
  await page.getByRole('button', { name: 'Merge into main' }).click()
  await row(page, /· Done/).waitFor()
  expect((await client.call('tasks.get', { task_id })).status).toBe('done')
  expect(await repository.git(['show', 'main:one.txt'])).toContain('one')

  await row(page, /· Blocked: This failed Review 3 times/).click()
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
  page.setDefaultTimeout(30_000)
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
