import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { createClient, type Client } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startBuiltService, type BuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'

test('refuses an unsuitable folder where it was entered, and says what to do', async () => {
  await using empty = await createTestRepository({ files: null })
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const page = await signIn(await browser.newPage(), service)
  const folder = page.getByLabel(/repository folder/i)
  const open = page.getByRole('button', { name: 'Open folder' })
  await folder.fill(tmpdir())
  await open.click()
  await page.getByText(/no git repository|not (in )?a git repository|is no repository/i).waitFor()
  await folder.fill('/nowhere/at/all')
  await open.click()
  await page.getByText('/nowhere/at/all').waitFor()
  await folder.fill(empty.path)
  await open.click()
  await page.getByText('This repository has no commits yet').waitFor()
  // What was wrong with one folder says nothing of the next.
  await folder.fill(repository.path)
  await page.getByText('This repository has no commits yet').waitFor({ state: 'detached' })
  await open.click()
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 800 })
    const box = await page.getByRole('textbox', { name: 'Name' }).boundingBox()
    expect(box?.width, `the name's field at ${width} px`).toBeGreaterThan(120)
    expect(await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }
})

test('opens a task whose script did not come at first', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject } = await openLocally(await browser.newPage(), service)
  const project = await client.call('projects.create', { name: 'Train', repo_path: repository.path })
  await client.call('tasks.create', { project_id: project.id, title: 'In the tunnel' })
  let asked = 0
  await page.route(/assets\/TaskPanelView-[^/]*\.js$/, (route) => (++asked <= 2 ? route.abort() : route.continue()))
  await page.reload()
  await openProject('Train')
  await page.locator('[data-card]').filter({ hasText: 'In the tunnel' }).click()
  await panel.getByRole('tab', { name: 'Overview' }).waitFor()
  expect(asked).toBe(3)
})

test('shows a task’s problems on card and panel, with the ways out', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'one\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const page = await signIn(await browser.newPage({ viewport: { width: 1440, height: 900 } }), service)
  const client = clientOf(page, service)
  const project = await client.call('projects.create', { name: 'Bad luck', repo_path: repository.path })
  const start = async (title: string, command: string | null, ci_steps: string[] = []) => {
    const executor = command === null ? 'claude-code' : 'command'
    const config = { command: command ?? '/nowhere/claude' }
    const agent = await client.call('agents.create', { name: title, executor, config })
    const task = await client.call('tasks.create', { project_id: project.id, title, review_config: { ci_steps } })
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    return task
  }
  await start('Missing binary', null)
  await start('Fails', 'echo this is why >&2; exit 7')
  await start('Silent', 'true')
  await start('Red CI', 'echo x >> b.txt; echo done', ['echo the reason; exit 3'])
  const conflict = await start('Conflict', 'echo two > a.txt; echo done')
  await repository.commit('Change the same line', { 'a.txt': 'three\n' })

  await page.reload()
  await page.getByRole('navigation', { name: 'Main' }).getByText('Bad luck').click()
  const card = (title: string) => page.locator('[data-card]').filter({ hasText: title })
  await card('Missing binary')
    .getByText(/program wasn’t found/i)
    .waitFor()
  await card('Fails')
    .getByText(/exit code 7|this is why/)
    .waitFor()
  await card('Silent')
    .getByText(/Agent changed nothing/)
    .waitFor()
  await card('Red CI')
    .getByText(/Too many failed reviews/)
    .waitFor({ timeout: 60_000 })

  await card('Fails').click()
  const panel = page.locator('[data-task-panel]')
  await panel
    .getByText(/this is why/)
    .first()
    .waitFor()
  await panel
    .getByRole('button', { name: /restart/i })
    .first()
    .waitFor()

  // Its checks have passed, but that is not what blocks.
  await card('Conflict').getByText('Conflicts with main in a.txt').waitFor()
  expect(await card('Conflict').getByText('Checks passed').count()).toBe(0)
  await card('Conflict').click()
  await panel.getByText('Conflicts with main in a.txt').first().waitFor()
  await panel
    .getByRole('button', { name: /resolve the conflict/i })
    .first()
    .waitFor()
  // It goes as it came.
  await repository.git(['reset', '--quiet', '--hard', 'HEAD~1'])
  await card('Conflict').getByText('Nothing checked').waitFor()
  await repository.commit('Change the same line again', { 'a.txt': 'three\n' })
  await card('Conflict').getByText('Conflicts with main in a.txt').waitFor()
  const { version } = await client.call('tasks.get', { task_id: conflict.id })
  await client.call('tasks.transition', { task_id: conflict.id, status: 'merging', version })
  await card('Conflict').getByText('Conflicts with main in a.txt').waitFor()
  expect(await repository.git(['show', 'main:a.txt'])).toBe('three')
  const workspace = await client.call('tasks.workspace', { task_id: conflict.id })
  expect(await repository.git(['show', `${workspace.branch}:a.txt`])).toBe('two')
})

test('shows one window’s changes in another, and survives a killed service', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-e2e-'))
  try {
    await using repository = await createTestRepository()
    await using browser = await launchChromium()
    await using first = await startBuiltService({ as: 'local', dataDir })
    const page = await signIn(await browser.newPage(), first)
    const client = clientOf(page, first)
    const project = await client.call('projects.create', { name: 'Two windows', repo_path: repository.path })
    const agent = await client.call('agents.create', {
      name: 'Long',
      executor: 'command',
      config: { command: 'echo half > half.txt; echo at it; exec tail -f /dev/null' },
    })
    const kept = await page.evaluate<Record<string, string>>('({ ...sessionStorage })')
    const second = await browser.newPage()
    second.setDefaultTimeout(80_000)
    await second.addInitScript({ content: `Object.assign(sessionStorage, ${JSON.stringify(kept)})` })
    await second.goto(new URL(first.url).origin)
    await second.getByRole('navigation', { name: 'Main' }).getByText('Two windows').click()
    const task = await client.call('tasks.create', { project_id: project.id, title: 'Seen in both' })
    await second.locator('[data-card]').filter({ hasText: 'Seen in both' }).waitFor()
    await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    await column(second, 'In progress').getByText('at it').waitFor()

    await first.stop('SIGKILL')
    await using again = await startBuiltService({ as: 'local', dataDir })
    const third = await signIn(await browser.newPage({ viewport: { width: 1440, height: 900 } }), again)
    await third.getByRole('navigation', { name: 'Main' }).getByText('Two windows').click()
    const card = third.locator('[data-card]').filter({ hasText: 'Seen in both' })
    await card.getByText(/Copse stopped while/).waitFor()
    const diff = await clientOf(third, again).call('tasks.diff', { task_id: task.id })
    expect(diff.files.map((file) => file.path)).toEqual(['half.txt'])
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
})

test('keeps the text for a returned card until it has arrived', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  const { client, openProject, openTask } = await openLocally(page, service)
  const project = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const config = { command: 'echo two > b.txt; git add -A; git commit -qm Two; echo done' }
  const agent = await client.call('agents.create', { name: 'Worker', executor: 'command', config })
  const ci_steps = [`until [ -e '${service.dataDir}/go' ]; do sleep 0.05; done`]
  const task = await client.call('tasks.create', {
    project_id: project.id,
    title: 'Write two',
    review_config: { ci_steps },
  })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const statusOf = async () => (await client.call('tasks.get', { task_id: task.id })).status
  await expect.poll(statusOf, { timeout: 80_000 }).toBe('review')

  await page.reload()
  await openProject('Ferry')
  const words = page.getByRole('dialog').getByRole('textbox', { name: 'What should change' })
  const sendBack = async (meanwhile = () => Promise.resolve()) => {
    await page.locator('[data-card]').focus()
    await page.keyboard.press('m')
    const back = page.getByRole('dialog').getByRole('button', { name: /In progress/ })
    await back.waitFor()
    await meanwhile()
    // The second click neither closes nor answers what replaces the button.
    await back.dblclick()
    await words.waitFor()
  }
  await page.route(/\/verdict$/, (route) => route.abort(), { times: 1 })
  // It can't be returned while its steps run; the open dialog notices when they have ended.
  await sendBack(() => writeFile(join(service.dataDir, 'go'), ''))
  await words.fill('Two is not enough.')
  await words.press('Control+Enter')
  await page.getByText('“Write two” is still in').waitFor()
  expect(await statusOf()).toBe('review')

  // The same text wherever it is written.
  await openTask('Write two', 'Review')
  // The sheet is closed, and has them when it opens again.
  expect(await words.count()).toBe(0)
  await page.keyboard.press('Escape')
  await sendBack()
  expect(await words.inputValue()).toBe('Two is not enough.')
  await words.press('Control+Enter')
  await expect.poll(async () => (await client.call('tasks.executions', { task_id: task.id })).items.length).toBe(2)
  await expect.poll(statusOf, { timeout: 80_000 }).toBe('review')
  await openTask('Write two', 'Review')
})

test('keeps everything typed while the service is killed, back or busy', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-e2e-'))
  try {
    await using repository = await createTestRepository()
    await using browser = await launchChromium()
    await using first = await startBuiltService({ dataDir })
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    page.setDefaultTimeout(80_000)
    await page.goto(first.url)
    await page.getByRole('heading', { name: 'Create your account' }).waitFor()
    await page.getByLabel('Your name').fill('Owner')
    await page.getByLabel('Email').fill('owner@copse.test')
    await page.getByLabel('Password').fill('correct horse')
    await page.keyboard.press('Enter')
    await page.getByLabel(/repository folder/i).fill(repository.path)
    await page.getByRole('button', { name: 'Open folder' }).click()
    await page.getByRole('button', { name: 'Add project' }).click()
    const write = async (title: string) => {
      await page
        .getByRole('region', { name: /^Backlog|^To do/ })
        .first()
        .waitFor()
      await page.keyboard.press('c')
      await page.getByLabel('Title').fill(title)
    }
    const create = page.getByRole('dialog').getByRole('button', { name: /^Create task/ })
    await write('Typed before the crash')

    // Gone: the window says so, keeps what was typed, and says again that nothing got through.
    await first.stop('SIGKILL')
    await page.getByText('Lost connection to Copse.').waitFor()
    await create.click()
    await page.getByText(/Can’t reach Copse/).waitFor()
    expect(await page.getByLabel('Title').inputValue()).toBe('Typed before the crash')
    await using again = await startBuiltService({ dataDir, port: Number(new URL(first.url).port) })
    // Back without any action.
    await page.getByText('Lost connection to Copse.').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Title').inputValue()).toBe('Typed before the crash')
    await create.click()
    await page.locator('[data-card]').filter({ hasText: 'Typed before the crash' }).waitFor()

    // Busy: requests continue when the service does.
    await write('Written while it was busy')
    process.kill(again.pid, 'SIGSTOP')
    try {
      await create.click()
      await page.getByRole('dialog').locator('[aria-busy="true"]').waitFor()
    } finally {
      process.kill(again.pid, 'SIGCONT')
    }
    await page.locator('[data-card]').filter({ hasText: 'Written while it was busy' }).waitFor()
  } finally {
    await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
})

async function signIn(page: Page, service: BuiltService): Promise<Page> {
  page.setDefaultTimeout(80_000)
  await page.goto(service.url)
  await page.locator('#app > *').first().waitFor()
  await page.waitForFunction('sessionStorage.length > 0')
  return page
}

/** The person's own token, as the page stores it. */
function clientOf(page: Page, service: BuiltService): Client {
  return createClient(createHttpTransport({ baseUrl: new URL(service.url).origin, getToken: () => tokenOf(page) }))
}

async function tokenOf(page: Page): Promise<string> {
  const kept = await page.evaluate<string>("Object.values(sessionStorage).join(' ')")
  return /[\w.-]{30,}/.exec(kept)?.[0] ?? ''
}

function column(page: Page, name: string): Locator {
  return page.getByRole('region', { name: 'Board' }).getByRole('region', { name: new RegExp(`^${name}`) })
}

test('says that an address names no project, and leads on', async () => {
  await using repository = await createTestRepository()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(), service)
  const project = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await page.getByRole('navigation', { name: 'Main' }).getByText('Ferry').waitFor()
  for (const address of ['#/p/nope', '#/p/nope/t/nothing', '#/p/nope/settings/hooks', '#/p/nope/workflow']) {
    await page.evaluate((hash) => (location.hash = hash), address)
    await page.getByRole('heading', { name: 'No project at this address' }).waitFor()
    expect(page.url(), address).toContain(address)
  }
  await page.getByRole('button', { name: 'Open Ferry' }).click()
  await page.getByRole('region', { name: 'Board' }).waitFor()
  // One that is deleted while it is open leads to another by itself.
  await client.call('projects.create', { name: 'Harbour', repo_path: repository.path })
  await client.call('projects.delete', { project_id: project.id })
  await page.getByRole('heading', { name: 'Harbour' }).waitFor()
})
