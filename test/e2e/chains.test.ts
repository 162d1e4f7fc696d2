import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const card = (page: Page, title: string) =>
  page.locator('[data-card]').filter({ has: page.locator('.ttl', { hasText: title }) })

/** Drags the handle of a card onto another and holds it there. */
async function dragHandle(page: Page, ref: string, from: string, onto: string): Promise<void> {
  await card(page, from).hover()
  await page.getByRole('button', { name: `Choose what starts after ${ref}`, exact: true }).hover()
  await page.mouse.down()
  const box = await card(page, onto).boundingBox()
  await page.mouse.move((box?.x ?? 0) + 40, (box?.y ?? 0) + 16, { steps: 6 })
}

test('makes a card start after another by its dragged handle or the keys, and shows the chain', async () => {
  await using repository = await createTestRepository()
  await using other = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'Chain', repo_path: repository.path })
  const far = await client.call('projects.create', { name: 'Far', repo_path: other.path })
  const config = { command: 'echo 1 > one.txt; echo done' }
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config })
  const make = (project_id: typeof project.id, title: string) =>
    client.call('tasks.create', { project_id, title, status: 'todo' })
  const first = await make(project.id, 'First')
  const second = await make(project.id, 'Second')
  const third = await make(project.id, 'Third')
  await make(far.id, 'Elsewhere')
  const get = (task_id: typeof first.id) => client.call('tasks.get', { task_id })
  await page.reload()
  await openProject('Chain')

  // By mouse: the drop asks how, and what was made can be taken back.
  await dragHandle(page, first.ref, 'First', 'Second')
  await page.getByText(`${second.ref} starts after ${first.ref}`).waitFor()
  expect(await violationsInThemes(page), 'dragging').toEqual([])
  await page.mouse.up()
  const dialog = page.getByRole('dialog', { name: `${second.ref} starts after ${first.ref}` })
  await dialog.waitFor()
  expect(await violationsInThemes(page), 'how').toEqual([])
  await dialog.getByRole('button', { name: 'Start automatically with Writer' }).click()
  await card(page, 'Second').getByText('Starts after').waitFor()
  expect(await get(second.id)).toMatchObject({ dependencies: [first.id], start_when_ready: { agent_id: agent.id } })
  await page.getByRole('button', { name: 'Undo' }).click()
  await card(page, 'Second').getByText(first.ref).waitFor({ state: 'detached' })
  expect(await get(second.id)).toMatchObject({ dependencies: [], start_when_ready: null, status: 'todo' })

  // By keyboard alone: which task, then how.
  await card(page, 'Second').focus()
  await page.keyboard.press('Shift+S')
  await page.getByRole('textbox', { name: `Task that must be done before ${second.ref}` }).waitFor()
  await page.keyboard.type('First')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Only wait' }).waitFor()
  await page.keyboard.press('Enter')
  await card(page, 'Second').getByText(first.ref).waitFor()
  expect((await get(second.id)).dependencies).toEqual([first.id])
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toContain('Second')

  // On its branch instead; a circle is refused where it would be dropped.
  await dragHandle(page, second.ref, 'Second', 'Third')
  await page.mouse.up()
  await page.getByRole('button', { name: 'On its branch' }).click()
  await page.getByRole('button', { name: 'Start automatically with Writer' }).click()
  await card(page, 'Third').getByText(`Starts on top of`).waitFor()
  expect(await get(third.id)).toMatchObject({ dependencies: [], stacked_on: second.id })
  await dragHandle(page, third.ref, 'Third', 'First')
  await page.getByText(`${third.ref} itself comes after ${first.ref}.`).waitFor()
  await page.mouse.up()
  expect(await page.getByRole('dialog').count()).toBe(0)

  // The whole chain, also what is archived; the arrows walk in it.
  await client.call('tasks.cancel', { task_id: first.id })
  await client.call('tasks.archive', { task_id: first.id })
  await page.reload()
  await card(page, 'Third').click()
  await panel.getByRole('tab', { name: 'Overview' }).click()
  const chain = panel.getByRole('list', { name: 'Chain' })
  await chain.getByRole('button', { name: 'First' }).waitFor()
  expect(await chain.getByRole('button').allInnerTexts()).toEqual([
    expect.stringContaining('First'),
    expect.stringContaining('Second'),
    expect.stringContaining('Third'),
  ])
  await panel.getByText(`Starts automatically with Writer once ${second.ref} is submitted.`).waitFor()
  expect(await violationsInThemes(page), 'chain').toEqual([])
  await chain.getByRole('button', { name: 'Third' }).focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Enter')
  await panel.getByRole('heading', { name: 'Second' }).waitFor()
  await page.setViewportSize({ width: 360, height: 740 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  await page.setViewportSize(checkedPage.viewport)

  // All projects: a line for each chain, and a card of another project takes no handle.
  await page.goto(`${new URL(page.url()).origin}/#/all`)
  const strip = page.getByRole('region', { name: 'Chains' })
  await strip.getByRole('link', { name: third.ref }).waitFor()
  expect(await violationsInThemes(page), 'chains of all projects').toEqual([])
  await dragHandle(page, third.ref, 'Third', 'Elsewhere')
  await page.getByText('Tasks of different projects can’t wait for each other.').waitFor()
  await page.mouse.up()
  await strip.getByRole('button', { name: 'Chains' }).click()
  await strip.getByRole('link').first().waitFor({ state: 'detached' })
  await page.reload()
  await strip.getByRole('button', { name: 'Chains', expanded: false }).waitFor()
})

test('lets a dependent task start automatically, shows that, and cancels it', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const viewport = { width: 1440, height: 900 }
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage({ viewport }), service)
  const project = await client.call('projects.create', { name: 'Chain', repo_path: repository.path })
  const config = { command: 'echo 1 > one.txt; echo done' }
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config })
  const first = await client.call('tasks.create', { project_id: project.id, title: 'First' })
  const second = await client.call('tasks.create', { project_id: project.id, title: 'Second' })
  await client.call('tasks.add_dependency', { task_id: second.id, depends_on_id: first.id })
  await page.reload()
  await openProject('Chain')
  await openTask('Second', 'Overview')
  await page.keyboard.press('s')
  const who = page.getByRole('dialog', { name: 'Who should do this?' })
  await who.getByText(`Waits for ${first.ref}. It starts automatically once that is done.`).waitFor()
  await who.getByRole('button', { name: /^I’ll do it myself/, disabled: true }).waitFor()
  await page.keyboard.press('1')
  const toast = page.locator('[data-sonner-toast]')
  await toast.filter({ hasText: `${second.ref} starts after ${first.ref} with Writer` }).waitFor()
  expect(await toast.count()).toBe(1)
  await panel.getByText('Starts automatically with Writer once these are done.').waitFor()
  await page.getByText('Starts after').first().waitFor()
  expect((await client.call('tasks.get', { task_id: second.id })).start_when_ready?.agent_id).toBe(agent.id)
  await panel.getByRole('button', { name: 'Don’t start it' }).click()
  await panel.getByText('once these are done').waitFor({ state: 'detached' })
  expect((await client.call('tasks.get', { task_id: second.id })).start_when_ready).toBeNull()
})
