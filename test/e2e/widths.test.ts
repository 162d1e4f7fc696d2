import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { writeAskingClaude } from '../helpers/asking-claude.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { cutOff } from './harness/cut-off.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

const requests = [{ tool_name: 'Bash', input: { command: 'npm publish --tag next' } }]

test('answers an agent on a phone, counts at 1024 what needs a person, and uses the width of 2560', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const phone = { ...checkedPage, viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
  const { page, client, panel } = await openLocally(await browser.newPage(phone), service)
  const project = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  const config = { command: await writeAskingClaude(service.dataDir, requests), permissions: 'worktree' } as const
  const agent = await client.call('agents.create', { name: 'Asker', executor: 'claude-code', config })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Publish it' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const asks = async () => (await client.call('tasks.executions', { task_id: task.id })).items[0]?.asks?.length ?? 0
  await expect.poll(asks, { timeout: 80_000 }).toBe(1)
  await page.reload()

  // Opened by its link, as from a notification.
  await page.evaluate(`location.hash = '#/p/${project.id}/t/${task.id}/agent'`)
  const allow = panel.getByRole('button', { name: 'Allow', exact: true, disabled: false })
  await allow.waitFor()
  const shots = process.env['COPSE_SHOTS']
  if (shots) await page.screenshot({ path: `${shots}/360.png` })
  const box = await allow.boundingBox()
  expect(box).not.toBeNull()
  const { x = -1, y = -1, width = 0, height = 0 } = box ?? {}
  expect([x >= 0, x + width <= 360, y >= 0, y + height <= 740, height >= 44]).toEqual([true, true, true, true, true])
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  expect(await violationsInThemes(page), 'phone').toEqual([])

  // On half a laptop screen the badge shows only its number.
  await page.setViewportSize({ width: 1024, height: 700 })
  await panel.getByRole('button', { name: 'Close', exact: true }).click()
  const needsYou = page.getByRole('button', { name: /Needs you/ })
  await needsYou.getByText('1', { exact: true }).waitFor()
  expect((await needsYou.boundingBox())?.width).toBeLessThan(80)
  if (shots) await page.screenshot({ path: `${shots}/1024.png` })

  await page.setViewportSize({ width: 2560, height: 1400 })
  await page.locator('[data-card]').filter({ hasText: 'Publish it' }).click()
  await allow.waitFor()
  expect((await panel.boundingBox())?.width).toBeGreaterThan(900)
  await panel.getByRole('button', { name: 'Close', exact: true }).click()
  // The columns use the width, as do the pages of agents and settings.
  const columns = await page.getByRole('region', { name: 'Board' }).getByRole('region').all()
  const ends = await Promise.all(columns.map((column) => column.boundingBox()))
  expect(Math.max(...ends.map((one) => (one ? one.x + one.width : 0)))).toBeGreaterThan(2_300)
  await page.evaluate(`location.hash = '#/agents'`)
  await expect
    .poll(async () => (await page.getByRole('table').first().boundingBox())?.width ?? 0)
    .toBeGreaterThan(1_500)
  await page.goBack()
  await page.locator('[data-card]').filter({ hasText: 'Publish it' }).click()
  if (shots) await page.screenshot({ path: `${shots}/2560.png` })
  await page.setViewportSize({ width: 360, height: 740 })
  await allow.tap()
  await expect.poll(asks).toBe(0)
})

test('begins a list row with its title on a phone, and names what a task waits for', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const { id: project_id } = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  const title = 'Count every passenger on each of the ferries'
  const first = await client.call('tasks.create', { project_id, title, priority: 3 })
  const second = await client.call('tasks.create', { project_id, title: 'Print it' })
  await client.call('tasks.add_dependency', { task_id: second.id, depends_on_id: first.id })
  await page.reload()
  const card = page.locator('[data-card]').filter({ hasText: 'Print it' })
  await card.getByTitle(`Waiting for ${first.ref} “${title}”`).waitFor()
  const shots = process.env['COPSE_SHOTS']
  if (shots) await page.screenshot({ path: `${shots}/waiting.png` })

  await page.keyboard.press('Control+b')
  const name = page.getByRole('link', { name: title })
  const waits = page.getByText(`Waiting for ${first.ref} ${title}`)
  await waits.waitFor()
  // The heading of the group says the state.
  expect(await page.getByRole('columnheader', { name: 'State' }).count()).toBe(0)
  await page.setViewportSize({ width: 360, height: 740 })
  await waits.waitFor()
  await expect.poll(async () => (await name.boundingBox())?.x ?? 999).toBeLessThan(120)
  expect((await name.boundingBox())?.width).toBeGreaterThan(180)
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  expect(await page.getByRole('row', { name: /Backlog Count every/ }).count()).toBe(1)
  expect(await violationsInThemes(page), 'list on a phone').toEqual([])
  if (shots) await page.screenshot({ path: `${shots}/list-360.png` })
})

test('shows every screen on a phone without cut-off or overlapping parts', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const phone = { ...checkedPage, viewport: { width: 360, height: 700 } }
  const { page, client, panel } = await openLocally(await browser.newPage(phone), service)
  const { id: project_id } = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  // A phone shows one column: on an empty board the one that says what to do.
  await page.goto(`${service.url}/?empty#/p/${project_id}`)
  const start = page.getByRole('region', { name: 'To do' }).getByRole('button', { name: 'New task' })
  await start.waitFor()
  await expect.poll(async () => (await start.boundingBox())?.x ?? 999).toBeLessThan(360)
  const command = 'seq 20 > numbers.txt; git add -A; git commit -qm Count; echo done'
  const agent = await client.call('agents.create', {
    name: 'A long-serving writer',
    executor: 'command',
    config: { command },
  })
  const title = 'Count every passenger on each of the ferries, one by one'
  const description = 'Each **deck** by itself, and then both of them together.'
  const review_config = { ci_steps: ['test -s numbers.txt'] }
  const task = await client.call('tasks.create', {
    project_id,
    title,
    description,
    labels: ['counting'],
    review_config,
  })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await expect
    .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
    .toMatchObject({ status: 'review', entry_barrier: false })
  const first = { project_id, name: 'Bug', title: 'Fix: ', labels: ['bug'], priority: 3 }
  await client.call('task_templates.create', first)
  await page.reload()
  const board = `/p/${project_id}`
  const tab = (name: string) => panel.getByRole('tab', { name: new RegExp(`^${name}`), selected: true })
  const heading = (name: string) => page.getByRole('heading', { name, exact: true })
  const ofTask = ['Overview', 'Agent', 'Changes', 'Review', 'Activity', 'Hooks', 'Workspace']
  const ofProject = {
    ...{
      repositories: 'Repositories',
      issues: 'Issues and pull requests',
      hooks: 'Hooks',
      review: 'Review and checks',
    },
    ...{
      templates: 'Task templates',
      where: 'Where agents run',
      limits: 'Limits',
      prompts: 'Prompts',
      knowledge: 'Knowledge',
    },
    ...{ members: 'Members', merge: 'Merge' },
  }
  const ofApp = {
    ...{ api: 'API and MCP', storage: 'Storage', runners: 'Runners', account: 'Account', people: 'People' },
    ...{ notifications: 'Notifications', appearance: 'Appearance', keyboard: 'Keyboard' },
  }
  const screens: readonly (readonly [place: string, sign: Locator])[] = [
    [board, page.locator('[data-card]').first()],
    ['/all', page.getByRole('button', { name: /All projects.*switch/ })],
    ...ofTask.map((name) => [`${board}/t/${task.id}/${name.toLowerCase()}`, tab(name)] as const),
    ...Object.entries(ofProject).map(([id, name]) => [`${board}/settings/${id}`, heading(name)] as const),
    ...Object.entries(ofApp).map(([id, name]) => [`/settings/${id}`, heading(name)] as const),
    ['/agents', heading('Your agents')],
    ['/inbox', heading('Inbox')],
    ['/add', heading('Add a project')],
  ]
  for (const [place, sign] of screens) {
    await page.evaluate(`location.hash = '#${place}'`)
    await sign.waitFor()
    await expect.poll(() => page.locator('.sk').count(), { message: place }).toBe(0)
    await expect.poll(() => cutOff(page), { message: place, timeout: 5_000 }).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth'), place).toBeLessThanOrEqual(360)
  }

  // The changes have the whole width, and their files are behind a button.
  await page.evaluate(`location.hash = '#${board}/t/${task.id}/changes'`)
  await panel.getByRole('group', { name: 'Read as' }).getByRole('button', { name: 'Files' }).click()
  const differences = panel.getByRole('region', { name: 'Differences' })
  await expect.poll(async () => (await differences.boundingBox())?.width).toBe(360)
  expect((await differences.boundingBox())?.height).toBeGreaterThan(400)
  await panel.locator('[data-line]').first().waitFor()
  const files = panel.getByRole('navigation', { name: 'Changed files' })
  expect(await files.count()).toBe(0)
  await panel.getByRole('button', { name: '1 file', exact: true }).click()
  await files.getByTitle('numbers.txt').click()
  await files.waitFor({ state: 'detached' })
  expect(await cutOff(page)).toEqual([])
})

test('shows a column at a time on a phone, merges in reach of the thumb, and closes what is open on Back', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const phone = { ...checkedPage, viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true }
  const { page, client, panel } = await openLocally(await browser.newPage(phone), service)
  const { id: project_id } = await client.call('projects.create', { name: 'ferry', repo_path: repository.path })
  const config = { command: 'seq 20 > numbers.txt; echo done' }
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config })
  const [task] = await Promise.all(
    ['Count them', 'Name them'].map((title) => client.call('tasks.create', { project_id, title })),
  )
  const task_id = task?.id ?? ''
  await client.call('tasks.claim', { task_id, agent_id: agent.id })
  const now = () => client.call('tasks.get', { task_id })
  await expect.poll(now, { timeout: 80_000 }).toMatchObject({ status: 'review', entry_barrier: false })
  await page.reload()
  const card = (title: string) => page.locator('[data-card]').filter({ hasText: title })
  const columns = page.getByRole('group', { name: 'Columns' })
  const isWhole = async (title: string) => {
    const box = await card(title).boundingBox()
    return box !== null && box.x >= 0 && box.x + box.width <= 360 && box.width > 320
  }
  // The first column in which something goes on; a tap or a swipe shows another.
  await columns.getByRole('button', { name: /^Review 1/, pressed: true }).waitFor()
  await expect.poll(() => isWhole('Count them')).toBe(true)
  await columns.getByRole('button', { name: /^Backlog 1/ }).tap()
  await expect.poll(() => isWhole('Name them')).toBe(true)
  await page.getByRole('region', { name: 'Board' }).evaluate((board) => {
    const { clientWidth } = board as unknown as { readonly clientWidth: number }
    ;(board as unknown as { scrollBy: (x: number, y: number) => void }).scrollBy(clientWidth * 0.7, 0)
  })
  await columns.getByRole('button', { name: /^To do/, pressed: true }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
  const shots = process.env['COPSE_SHOTS']
  if (shots) await page.screenshot({ path: `${shots}/phone-board.png` })
  expect(await violationsInThemes(page), 'board on a phone').toEqual([])

  const bar = page.getByRole('navigation', { name: 'Main' })
  await bar.getByRole('link', { name: /^Needs you 1/ }).tap()
  await page.getByRole('link', { name: 'Count them' }).waitFor()
  expect(await page.getByRole('link', { name: 'Name them' }).count()).toBe(0)
  await bar.getByRole('link', { name: /^Board/ }).tap()
  await columns.getByRole('button', { name: /^Review 1/ }).tap()

  await card('Count them').tap()
  const merge = panel.getByRole('button', { name: 'Merge into main' })
  await merge.waitFor()
  expect(await bar.count()).toBe(0)
  await panel.getByRole('tab', { name: /^Overview/ }).tap()
  const box = await merge.boundingBox()
  expect([box && box.height >= 44, box && box.width > 250, box && box.y > 500]).toEqual([true, true, true])
  // Back closes the task, whatever tabs were read in it.
  await page.goBack()
  await panel.waitFor({ state: 'detached' })
  await expect.poll(() => isWhole('Count them')).toBe(true)
  await card('Count them').tap()
  expect(await violationsInThemes(page), 'task on a phone').toEqual([])
  await merge.tap()
  await expect.poll(now).toMatchObject({ status: 'done' })
})
