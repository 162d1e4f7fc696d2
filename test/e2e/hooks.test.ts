import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { launchChromium } from '../helpers/browser.ts'
import { createTestRepository } from '../helpers/git-repository.ts'
import { checkedPage, violationsInThemes } from './harness/axe.ts'
import { startBuiltService } from './harness/built-service.ts'
import { keyboardOf } from './harness/keyboard.ts'
import { openLocally } from './harness/local-page.ts'

/** A folder outside every worktree, through which a test controls its hooks. */
async function signs() {
  const folder = await mkdtemp(join(tmpdir(), 'copse-hooks-'))
  return {
    path: (name: string) => join(folder, name),
    set: (name: string) => writeFile(join(folder, name), ''),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
const openHooks = async (page: Page) => {
  await page.getByRole('navigation', { name: 'Main' }).getByText('Settings').click()
  await page
    .getByRole('navigation', { name: 'Settings' })
    .getByRole('link', { name: /^Settings of / })
    .click()
  await page
    .getByRole('navigation', { name: /^Settings of / })
    .getByRole('link', { name: /^Hooks/ })
    .click()
}
const addScript = async (page: Page, event: string, script: string) => {
  await page.getByRole('button', { name: `Add a hook to ${event}` }).click()
  await page.getByRole('menuitem', { name: 'Script' }).click()
  await page.getByLabel('Script or program path').fill(script)
}
const save = async (page: Page) => {
  await page.getByRole('button', { name: 'Save hooks' }).click()
  await page.getByRole('region', { name: 'Not saved' }).waitFor({ state: 'detached' })
}
/** The text of a run's line: its result, its name. */
const runs = (panel: Locator) => panel.getByRole('listbox', { name: 'Runs by event' }).getByRole('option')

test('adds a blocking hook, then retries, skips and reads the logs of it', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'one\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage(checkedPage), service)
  const keys = keyboardOf(page)
  const project = await client.call('projects.create', { name: 'Hooked', repo_path: repository.path })
  await client.call('agents.create', {
    name: 'Worker',
    executor: 'command',
    config: { command: 'echo two > a.txt; git commit -qam Two; echo done' },
  })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Needs its tools' })
  await page.reload()
  await openProject('Hooked')

  // The editor: wrong at first, then tested before it is saved.
  await openHooks(page)
  await addScript(page, 'before_work', `printf '\\033[31m<b>no tools</b>\\033[0m\\n' >&2; exit 3`)
  const timeout = page.getByLabel('Timeout, in seconds')
  await timeout.fill('0')
  await page.getByText('Whole seconds, from 1 to 86,400').waitFor()
  expect(await page.getByRole('button', { name: 'Save hooks' }).getAttribute('aria-disabled')).toBe('true')
  await timeout.fill('20')
  await page.getByRole('button', { name: 'Run test' }).click()
  const result = page.getByRole('group', { name: 'Result of the test' })
  await result.getByText('<b>no tools</b>', { exact: true }).waitFor()
  await result.getByText('before_work', { exact: true }).first().waitFor()
  expect((await client.call('tasks.hook_runs', { task_id: task.id })).items).toEqual([])
  await addScript(page, 'on_work_stop', 'sleep 60')
  await timeout.fill('1')
  await addScript(page, 'on_work_stop', 'echo tidy')
  await save(page)
  expect((await client.call('projects.get_settings', { project_id: project.id })).lifecycle_hooks).toMatchObject({
    before_work: [{ blocking: true, timeout_seconds: 20 }],
    on_work_stop: [
      { command: 'sleep 60', timeout_seconds: 1, blocking: false },
      { command: 'echo tidy', timeout_seconds: 30 },
    ],
  })
  // An unsupported plugin is skipped; the editor marks it, so it is added over the API here.
  const settings = await client.call('projects.get_settings', { project_id: project.id })
  const plugin = { type: 'plugin', name: 'knowledge-inject' } as const
  await client.call('projects.update_settings', {
    project_id: project.id,
    lifecycle_hooks: {
      ...settings.lifecycle_hooks,
      on_work_stop: [...(settings.lifecycle_hooks.on_work_stop ?? []), plugin],
    },
  })
  await page.getByText('knowledge-inject').first().waitFor()

  // The claim, the barrier, and the log of the blocking hook.
  await openProject('Hooked')
  await openTask('Needs its tools', 'Overview')
  await panel.getByRole('button', { name: 'Start' }).click()
  await page
    .getByRole('dialog', { name: /^Who/ })
    .getByRole('button', { name: /Worker/ })
    .click()
  await panel.getByRole('img', { name: 'A hook failed' }).waitFor()
  expect(await client.call('tasks.get', { task_id: task.id })).toMatchObject({
    status: 'in_progress',
    entry_barrier: true,
  })
  // The toast asks for the reason like the log, and Escape closes the question.
  await panel.getByRole('button', { name: 'Skip once…' }).focus()
  await page.keyboard.press('Enter')
  const why = panel.getByLabel('Why it is skipped')
  await keys.on(why)
  await page.keyboard.press('Enter')
  await page.keyboard.press('Escape')
  await keys.on(panel.getByRole('button', { name: 'Skip once…' }))
  await panel.getByRole('button', { name: 'Show log' }).click()
  const view = panel.getByRole('region', { name: 'Hook run' })
  await view.getByText('<b>no tools</b>', { exact: true }).waitFor()
  await view.getByText('1 of 1').waitFor()
  await view.getByText('SVC_EVENT').waitFor()
  await view.getByRole('button', { name: 'Retry hook' }).click()
  await view.getByText('2 of 2').waitFor()
  await view.getByRole('button', { name: 'Skip once…' }).click()
  expect(await view.getByRole('button', { name: 'Skip once' }).getAttribute('aria-disabled')).toBe('true')
  await view.getByLabel('Why it is skipped').fill('the tools are on their way')
  await page.keyboard.press('Enter')
  await view.getByText(/skipped this hook once at .*“the tools are on their way”/).waitFor()
  await expect
    .poll(() => client.call('tasks.get', { task_id: task.id }), { timeout: 80_000 })
    .toMatchObject({ status: 'review', error_annotation: null })
  await panel.getByRole('img', { name: 'A hook failed' }).waitFor({ state: 'detached' })
  await keys.keptFocus()

  // The list contains every kind of result; arrows and the filter work on it.
  await expect.poll(() => runs(panel).allInnerTexts(), { timeout: 80_000 }).toHaveLength(5)
  const lines = async () => (await runs(panel).allInnerTexts()).join('; ').replaceAll('\n', ' ')
  for (const expected of [
    /Failed, blocking, exit 3/,
    /Timed out, killed after 1.0 s/,
    /Succeeded, exit 0/,
    /Skipped, /,
  ])
    await expect.poll(lines).toMatch(expected)
  await panel.getByRole('listbox').focus()
  await page.keyboard.press('Home')
  await view.getByText('2 of 2').waitFor()
  await page.keyboard.press('ArrowDown')
  await view.getByText('1 of 2').waitFor()
  await panel.getByLabel('Filter hook runs').fill('tidy')
  await expect.poll(() => runs(panel).count()).toBe(1)
  await runs(panel).first().click()
  await view.getByRole('tab', { name: /^stdout 1 line/ }).waitFor()
  await panel.getByLabel('Filter hook runs').fill('')
  await panel.getByRole('button', { name: 'All results' }).click()
  await page.getByRole('menuitem', { name: /Timed out/ }).click()
  await expect.poll(() => runs(panel).allInnerTexts()).toHaveLength(1)

  // The timeline shows it too, and links to the log.
  await panel.getByRole('tab', { name: 'Activity' }).click()
  await panel.getByText('was skipped once by').waitFor()
  await panel.getByRole('button', { name: 'Open log of sleep 60' }).click()
  await view.getByText('Timed out').waitFor()

  expect(await violationsInThemes(page), 'viewer').toEqual([])
})

test('asks for a new skip reason when another hook blocks the task', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'one\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage(checkedPage), service)
  const keys = keyboardOf(page)
  const project = await client.call('projects.create', { name: 'Twice', repo_path: repository.path })
  const failing = (code: number) => ({ type: 'script', command: `exit ${code}`, blocking: true }) as const
  await client.call('projects.update_settings', {
    project_id: project.id,
    lifecycle_hooks: { before_work: [failing(3), failing(4)] },
  })
  const agent = await client.call('agents.create', { name: 'W', executor: 'command', config: { command: 'true' } })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Held twice' })
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  await page.reload()
  await openProject('Twice')
  await openTask('Held twice', 'Overview')
  await panel.getByText(/exit code 3/).waitFor()
  await panel.getByRole('button', { name: 'Skip once…' }).focus()
  await page.keyboard.press('Enter')
  await keys.on(panel.getByLabel('Why it is skipped'))
  await page.keyboard.type('The first is known')
  await page.keyboard.press('Enter')
  await panel.getByText(/exit code 4/).waitFor()
  await panel.getByRole('button', { name: 'Skip once…' }).waitFor()
  await keys.keptFocus()
})

test('follows a running hook and its next output', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'one\n' } })
  await using sign = await signs()
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, panel, openProject, openTask } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'Live', repo_path: repository.path })
  const command = `echo first; while [ ! -f ${sign.path('go')} ]; do sleep 0.05; done; echo second`
  await client.call('projects.update_settings', {
    project_id: project.id,
    lifecycle_hooks: { before_work: [{ type: 'script', command, blocking: true }] },
  })
  const agent = await client.call('agents.create', { name: 'W', executor: 'command', config: { command: 'true' } })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Wait for it' })
  await page.reload()
  await openProject('Live')
  await openTask('Wait for it', 'Hooks')
  await panel.getByText('No hooks have run').waitFor()
  await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
  const view = panel.getByRole('region', { name: 'Hook run' })
  await view.getByText('first', { exact: true }).waitFor()
  await view.getByText('Running', { exact: true }).waitFor()
  await sign.set('go')
  await view.getByText('second', { exact: true }).waitFor()
  await view.getByText('Succeeded', { exact: true }).waitFor()
})

test('orders hooks and keeps unsaved edits for the person’s return', async () => {
  await using repository = await createTestRepository({ files: { 'a.txt': 'one\n' } })
  await using service = await startBuiltService({ as: 'local' })
  await using browser = await launchChromium()
  const { page, client, openProject } = await openLocally(await browser.newPage(checkedPage), service)
  const project = await client.call('projects.create', { name: 'Ordered', repo_path: repository.path })
  const script = (command: string) => ({ type: 'script', command }) as const
  await client.call('projects.update_settings', {
    project_id: project.id,
    lifecycle_hooks: { on_work_start: [script('one'), script('two'), script('three')] },
  })
  const savedOrder = async () =>
    (await client.call('projects.get_settings', { project_id: project.id })).lifecycle_hooks.on_work_start?.map(
      (hook) => (hook.type === 'script' ? hook.command : hook.name),
    )
  await page.reload()
  await openProject('Ordered')
  await openHooks(page)
  const section = page.getByRole('region', { name: /on_work_start/ })
  const handle = (name: string) => section.getByRole('button', { name: new RegExp(`^Move ${name},`) })

  // By keyboard, with the focus on the moved hook; then by pointer.
  await handle('three').focus()
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => handle('three').getAttribute('aria-label')).toContain('2 of 3')
  await page.keyboard.press('ArrowUp')
  await expect.poll(() => handle('three').getAttribute('aria-label')).toContain('1 of 3')
  await handle('one').dragTo(section.getByText('two', { exact: true }), { targetPosition: { x: 5, y: 17 } })
  await expect.poll(() => handle('one').getAttribute('aria-label')).toContain('3 of 3')
  await save(page)
  expect(await savedOrder()).toEqual(['three', 'two', 'one'])

  // Leaving loses nothing, nor does a reload.
  await addScript(page, 'on_task_done', 'git tag done')
  await openProject('Ordered')
  await page.getByText('Your hook changes aren’t saved yet.').waitFor()
  await page.reload()
  await openHooks(page)
  await page.getByText('You have unsaved changes from earlier.').waitFor()
  await page.getByText('git tag done').waitFor()
  await page.getByRole('button', { name: 'Discard them' }).click()
  await page.getByText('git tag done').waitFor({ state: 'detached' })

  // The service has the last word, at the field.
  await page.getByRole('button', { name: 'Add a hook to before_work' }).click()
  await page.getByRole('menuitem', { name: 'knowledge-inject' }).click()
  await page.getByLabel('limit').fill('500')
  await page.getByText('A whole number from 1 to 100.').waitFor()
  await page.getByLabel('Plugin', { exact: true }).selectOption('check_retry_budget')
  await page.getByText('Does nothing at before_work').waitFor()
  await page.getByLabel('gate').fill('g'.repeat(65))
  await page.getByRole('button', { name: 'Save hooks' }).click()
  await page.getByText(/The options of check_retry_budget/).waitFor()
  expect(await violationsInThemes(page), 'editor').toEqual([])
  await page.getByLabel('gate').fill('review')
  await save(page)
})
