import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { jobProtocol } from '../../src-shared/contract/jobs.ts'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { startSvc } from '../integration/cli/svc-process.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { openLocally } from './harness/local-page.ts'
import { expectRoomOnPhone, shoot, startWithEngine } from './harness/runner-pages.ts'

test('adds a runner, says what is wrong with it, changes and removes it', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  await using service = await startWithEngine()
  await using browser = await launchChromium()
  const { page, client } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await page.goto(`${new URL(service.url).origin}/#/settings/runners`)
  const list = page.getByRole('list', { name: 'Runners' })
  await list.getByText('This machine').waitFor()
  await page.getByRole('heading', { name: 'No other runners yet' }).waitFor()
  expect(await list.getByRole('button').count()).toBe(0)
  expect(await violationsInThemes(page), 'none').toEqual([])
  await shoot(page, 'none')

  // By keyboard alone. What is missing is said before anything is sent.
  await page.getByRole('button', { name: 'Add runner' }).focus()
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Add runner' })
  await page.keyboard.type('Box')
  const submit = dialog.getByRole('button', { name: 'Add runner' })
  expect(await submit.getAttribute('title')).toBe('Name an image')
  const type = dialog.getByLabel('Type')
  await type.selectOption('ssh')
  expect(await submit.getAttribute('title')).toBe('Name the host')
  await dialog.getByLabel('Host').fill('me@far.invalid')
  expect(await submit.isEnabled()).toBe(true)
  expect(await violationsInThemes(page), 'ssh').toEqual([])
  await expectRoomOnPhone(page, 'ssh')
  await shoot(page, 'ssh')
  await type.selectOption('kubernetes')
  expect(await submit.getAttribute('title')).toBe('Name the namespace')
  await dialog.getByLabel('Namespace').fill('agents')
  await dialog.getByLabel('Image').fill('registry.example.com/agents:1')
  await dialog.getByLabel('Pod (optional, JSON)').fill('[]')
  expect(await submit.getAttribute('title')).toBe('The pod isn’t a JSON object')
  await dialog.getByLabel('Pod (optional, JSON)').fill('{"nodeSelector": {"disk": "fast"}}')
  expect(await submit.isEnabled()).toBe(true)
  expect(await violationsInThemes(page), 'kubernetes').toEqual([])
  await expectRoomOnPhone(page, 'kubernetes')
  await shoot(page, 'kubernetes')
  await type.selectOption('container')
  await dialog.getByLabel('Image').fill('node:24')
  await dialog.getByLabel('Engine', { exact: true }).selectOption('socket')
  await dialog.getByLabel('Socket of the engine').fill('unix:///no/such.sock')
  await dialog.getByLabel('Network').selectOption({ label: 'Only the allowed hosts' })
  await dialog.getByRole('button', { name: 'More folders and tools' }).click()
  expect(await violationsInThemes(page), 'form').toEqual([])
  await expectRoomOnPhone(page, 'form')
  await shoot(page, 'form')
  await submit.click()
  await dialog.waitFor({ state: 'detached' })

  const check = page.getByRole('status', { name: 'Check of Box' })
  await check.getByText('Box isn’t ready').waitFor()
  await check.getByText('Cannot connect to the Docker daemon at unix:///no/such.sock').waitFor()
  await check.getByText('Start the engine').waitFor()
  await list.getByText('Can’t be reached', { exact: true }).waitFor()
  await list.getByText('Container · 0 of 1 running').waitFor()
  expect(await violationsInThemes(page), 'not ready').toEqual([])
  await expectRoomOnPhone(page, 'not ready')
  await shoot(page, 'not-ready')
  await check.getByRole('button', { name: 'Close the check of Box' }).click()
  await list.getByText('Cannot connect to the Docker daemon').waitFor()

  await list.getByRole('button', { name: 'Change Box' }).click()
  const form = page.getByRole('dialog', { name: 'Change Box' })
  expect(await form.getByLabel('Socket of the engine').inputValue()).toBe('unix:///no/such.sock')
  await form.getByLabel('Engine', { exact: true }).selectOption('docker')
  await form.getByLabel('Runs at once').fill('2')
  await form.getByRole('checkbox', { name: 'All projects' }).click()
  await form.getByRole('checkbox', { name: 'Ferry' }).click()
  await form.getByLabel('Runs at once').press('Control+Enter')
  await form.waitFor({ state: 'detached' })
  await check.getByText('Box is ready').waitFor()
  await list.getByText('Container · 0 of 2 running · Only Ferry').waitFor()
  const [, box] = (await client.call('runners.list', {})).items
  const runner_id = box?.id ?? ''
  expect(box).toMatchObject({ projects: [project.id], config: { engine: 'docker', image: 'node:24' } })
  await shoot(page, 'ready')

  // A machine that connects from its side is there once it does.
  const { daemon, token } = await client.call('daemons.create', { name: 'Desk' })
  const report = { instance: 'one', protocol: jobProtocol }
  const machine = createClient(createHttpTransport({ baseUrl: new URL(service.url).origin, getToken: () => token }))
  await machine.call('daemons.report', { daemon_id: 'self', ...report })
  await list.getByText('Remote machine · 0 of 1 running').waitFor()
  await list.getByRole('button', { name: 'Change Desk' }).click()
  const desk = page.getByRole('dialog', { name: 'Change Desk' })
  await desk.getByRole('checkbox', { name: 'It takes the runs of everyone’s agents' }).click()
  expect(await violationsInThemes(page), 'daemon').toEqual([])
  await expectRoomOnPhone(page, 'daemon')
  await shoot(page, 'daemon')
  await desk.getByRole('button', { name: 'Save' }).click()
  await desk.waitFor({ state: 'detached' })
  expect(await client.call('runners.get', { runner_id: daemon.id as string as RunnerId })).toMatchObject({
    config: { shared: true },
  })
  await client.call('runners.delete', { runner_id: daemon.id as string as RunnerId })

  // What is changed elsewhere shows without a reload.
  await client.call('runners.update', { runner_id, name: 'Shed', projects: null })
  await list.getByText('Shed', { exact: true }).waitFor()
  await list.getByText('Container · 0 of 2 running', { exact: true }).waitFor()

  await page.goto(`${new URL(service.url).origin}/#/p/${project.id}/settings/where`)
  await page.getByRole('heading', { name: 'Where agents run' }).waitFor()
  const order = page.getByRole('list', { name: 'Agents run on' })
  await page.getByLabel('Add to: Agents run on').selectOption('Shed')
  await order.getByText('Shed').waitFor()
  await order.getByRole('button', { name: 'Move Shed up' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => order.getByRole('listitem').allInnerTexts()).toEqual(['1\nShed', '2\nThis machine'])
  // The focus stays with what was moved.
  await expect
    .poll(() => page.evaluate<string | null>('document.activeElement?.getAttribute("aria-label")'))
    .toBe('Move Shed up')
  await page.getByLabel('Checks, hooks and reviewers run on').selectOption('Shed')
  const settings = () => client.call('projects.get_settings', { project_id: project.id })
  await expect.poll(settings).toMatchObject({ runner_ids: [runner_id, 'here'], ci_runner: runner_id })
  expect(await violationsInThemes(page), 'project').toEqual([])
  await expectRoomOnPhone(page, 'project')
  await shoot(page, 'project')
  await order.getByRole('button', { name: 'Remove This machine' }).click()
  await order.getByRole('button', { name: 'Shed must stay: one is needed' }).waitFor()
  await expect.poll(settings).toMatchObject({ runner_ids: [runner_id] })

  // A runner that is named somewhere can't be removed, and the refusal says where.
  await page.goto(`${new URL(service.url).origin}/#/settings/runners`)
  const remove = async () => {
    await list.getByRole('button', { name: 'Remove…' }).click()
    await list.getByText('No run uses it').waitFor()
    await list.getByRole('button', { name: 'Remove Shed' }).click()
  }
  await remove()
  await list.getByText('named by the project Ferry').waitFor()
  expect(await violationsInThemes(page), 'refused').toEqual([])
  await shoot(page, 'refused')
  await client.call('projects.update_settings', { project_id: project.id, runner_ids: ['here'], ci_runner: null })
  await list.getByRole('button', { name: 'Remove Shed' }).click()
  await page.getByRole('heading', { name: 'No other runners yet' }).waitFor()
  expect((await client.call('runners.list', {})).items).toHaveLength(1)
})

test('starts a task on a runner, says where it runs, and for which runner another waits', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  await using service = await startWithEngine()
  await using browser = await launchChromium()
  const { page, client, panel } = await openLocally(await browser.newPage(checkedPage), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  const config = { command: 'while [ ! -e go.txt ]; do sleep 0.1; done; echo done' }
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config })
  for (const title of ['Paint the hull', 'Oil the engine', 'Ring the bell'])
    await client.call('tasks.create', { project_id, title })
  const card = (title: string) => page.locator('[data-card]').filter({ hasText: title })
  const dialog = page.getByRole('dialog', { name: 'Who should do this?' })
  await page.goto(`${new URL(service.url).origin}/#/p/${project_id}`)

  // With this machine alone there is nothing to choose.
  await card('Paint the hull').focus()
  await page.keyboard.press('s')
  await dialog.getByRole('button', { name: /Writer/ }).waitFor()
  expect(await dialog.getByLabel('Runs on').count()).toBe(0)
  await page.keyboard.press('Escape')
  const { id: runner_id } = await client.call('runners.create', {
    name: 'Box',
    kind: 'container',
    config: { image: 'node:24', engine: 'docker' },
  })
  await expect
    .poll(() => client.call('runners.get', { runner_id }), { timeout: 80_000 })
    .toMatchObject({ state: 'ready' })

  const startOnBox = async (title: string) => {
    await card(title).focus()
    await page.keyboard.press('s')
    await dialog.getByLabel('Runs on').selectOption(runner_id)
    expect(await dialog.getByRole('button', { name: /I’ll do it myself/ }).getAttribute('aria-disabled')).toBe('true')
  }
  await startOnBox('Paint the hull')
  expect(await violationsInThemes(page), 'choice').toEqual([])
  await shoot(page, 'choice')
  await dialog.getByRole('button', { name: /Writer/ }).click()
  await card('Paint the hull').getByTitle('Runs on Box').waitFor()
  await startOnBox('Oil the engine')
  await dialog.getByRole('button', { name: /Writer/ }).click()
  await card('Oil the engine').getByText('Box is full').waitFor()
  expect(await violationsInThemes(page), 'board').toEqual([])
  await shoot(page, 'board')
  await card('Paint the hull').click()
  await panel.getByRole('tab', { name: /^Agent/ }).click()
  await panel.getByText('Runs on Box').waitFor()
  expect(await violationsInThemes(page), 'run').toEqual([])
  await expectRoomOnPhone(page, 'run')
  await shoot(page, 'run')
  await panel.getByRole('tab', { name: /^Workspace/ }).click()
  await panel.getByText('Runs on', { exact: true }).waitFor()
  await shoot(page, 'workspace')
  await panel.getByRole('button', { name: 'Close', exact: true }).click()
  await page
    .getByRole('button', { name: /running/ })
    .first()
    .click()
  await page.getByRole('list', { name: 'Running' }).getByText('Box', { exact: true }).waitFor()
  await page.getByRole('list', { name: 'Queue' }).getByText('Box is full').waitFor()
  await shoot(page, 'queue')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+b')
  await page
    .getByRole('row', { name: /Paint the hull/ })
    .getByTitle('Runs on Box')
    .waitFor()
  await page
    .getByRole('row', { name: /Oil the engine/ })
    .getByText('Box is full')
    .waitFor()
  await shoot(page, 'list')
  await page.keyboard.press('Control+b')

  // A new task can start there, too.
  await page.getByRole('button', { name: 'New task', exact: true }).click()
  const fresh = page.getByRole('dialog', { name: 'New task' })
  await fresh.getByLabel('Title').fill('Mend the sail')
  expect(await fresh.getByLabel('Runs on').count()).toBe(0)
  await fresh.getByRole('button', { name: /^Agent/ }).click()
  await page.getByRole('menuitem', { name: 'Writer' }).click()
  await fresh.getByLabel('Runs on').selectOption(runner_id)
  expect(await violationsInThemes(page), 'new task').toEqual([])
  await shoot(page, 'new-task')
  await fresh.getByRole('button', { name: 'Create and start' }).click()
  await card('Mend the sail').getByText('Box is full').waitFor()

  // Out of reach: the start is refused in words, and can wait. The task says for what.
  await service.stopEngine()
  await client.call('runners.check', { runner_id })
  await startOnBox('Ring the bell')
  await dialog.getByText('Box can’t be reached. The container engine').waitFor()
  await dialog.getByRole('button', { name: /Writer/ }).click()
  await page.getByText("Box can't be reached. The container engine").waitFor()
  await page.getByRole('button', { name: 'Start when it can be reached' }).click()
  await card('Ring the bell').getByText('Box isn’t ready').waitFor()
  await card('Ring the bell').click()
  await panel.getByRole('tab', { name: /^Agent/ }).click()
  const note = panel.getByRole('status').filter({ hasText: 'Box can’t be reached.' })
  await note.getByText('Cannot connect to the Docker daemon.').waitFor()
  expect(await violationsInThemes(page), 'out of reach').toEqual([])
  await expectRoomOnPhone(page, 'out of reach')
  await shoot(page, 'out-of-reach')
  await note.getByRole('link', { name: 'Runners' }).click()
  await page.getByRole('list', { name: 'Runners' }).getByText('Can’t be reached', { exact: true }).waitFor()

  // An agent of its own runner.
  await page.evaluate("location.hash = '#/agents'")
  await page.getByRole('button', { name: 'More about Writer' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit Writer' })
  await edit.getByLabel('Add to: Runs on').selectOption('Box')
  await edit.getByRole('list', { name: 'Runs on' }).getByText('Can’t be reached').waitFor()
  await edit.getByText('All must take the task’s project.').scrollIntoViewIfNeeded()
  expect(await violationsInThemes(page), 'agent').toEqual([])
  await shoot(page, 'agent')
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'detached' })
  const saved = async () => (await client.call('agents.list', {})).items.find(({ id }) => id === agent.id)
  expect((await saved())?.config.runner_ids).toEqual([runner_id])
})

test('says of a worktree elsewhere when work arrived and what stayed there', async () => {
  await using repository = await createTestRepository({ name: 'ferry' })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel } = await openLocally(await browser.newPage(checkedPage), service)
  const { id: project_id } = await client.call('projects.create', { name: 'Ferry', repo_path: repository.path })
  await using made = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'copse-desk-'))
  made.defer(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  const { daemon, token } = await client.call('daemons.create', { name: 'Desk' })
  const runner_id = daemon.id as string as RunnerId
  await writeFile(join(home, 'token'), token)
  const args = ['runner', '--url', new URL(service.url).origin, '--token-file', join(home, 'token')]
  const child = startSvc([...args, '--folder', join(home, 'runner')], { cwd: home, env: { HOME: home } })
  made.defer(async () => {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  })
  child.stdout.resume()
  child.stderr.resume()
  await expect
    .poll(() => client.call('runners.list', {}), { timeout: 30_000 })
    .toMatchObject({
      items: expect.arrayContaining([expect.objectContaining({ state: 'ready', name: 'Desk' })]) as unknown,
    })
  await client.call('projects.update_settings', { project_id, runner_ids: [runner_id] })
  const config = { command: 'echo one > one.txt; git add -A; git commit -qm Work; truncate -s 51M big.bin' }
  const agent = await client.call('agents.create', { name: 'Writer', executor: 'command', config })
  const task = await client.call('tasks.create', { project_id, title: 'Paint the hull' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await expect
    .poll(() => client.call('tasks.workspace', { task_id: task.id }), { timeout: 60_000 })
    .toMatchObject({ runner_id, left_there: ['big.bin'] })
  await page.goto(`${new URL(service.url).origin}/#/p/${project_id}`)
  await page.locator('[data-card]').filter({ hasText: 'Paint the hull' }).click()
  await panel.getByRole('tab', { name: /^Workspace/ }).click()
  await panel.getByText('Stayed there', { exact: true }).waitFor()
  await panel.getByText('1 file over 50 MB: big.bin').waitFor()
  expect(
    await panel
      .locator('div')
      .filter({ hasText: /^Work arrived/ })
      .last()
      .innerText(),
  ).toMatch(/now|ago/)
  expect(await violationsInThemes(page), 'elsewhere').toEqual([])
  await expectRoomOnPhone(page, 'elsewhere')
  await shoot(page, 'elsewhere')
})
