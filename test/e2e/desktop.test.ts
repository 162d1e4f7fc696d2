import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createTestRepository } from '../helpers/git-repository.ts'
import { violationsInThemes } from './harness/axe.ts'
import { startDesktop, type Desktop } from './harness/electron-standin/start-desktop.ts'

const execute = promisify(execFile)

test('shows the app as the local operator over IPC, without Node in the page', async () => {
  await using desktop = await startDesktop()
  const { page } = desktop
  await page.waitForSelector('#app > *')
  const [created] = desktop.calls.filter((call) => call.name === 'new BrowserWindow')
  expect(created?.args[0]).toMatchObject({
    webPreferences: { contextIsolation: true, sandbox: true, nodeIntegration: false, webSecurity: true },
  })
  expect(
    await page.evaluate('[typeof require, typeof process, typeof copseStandinSend, Object.isFrozen(window.copse)]'),
  ).toEqual(['undefined', 'undefined', 'undefined', true])
  expect(await page.evaluate("window.copse.call('system.get', {})")).toMatchObject({
    ok: true,
    value: { local_operator: true, registered: false, data_dir: desktop.dataDir },
  })
  expect(await page.evaluate("window.copse.call('toString', {})")).toMatchObject({
    ok: false,
    error: { code: 'not_found' },
  })
})

test('quits when its window is closed, and remembers the window', async () => {
  await using desktop = await startDesktop()
  await desktop.page.waitForSelector('#app > *')
  await desktop.page.close()
  expect(await desktop.exited).toBe(0)
  expect(desktop.log()).toBe('')
  expect(JSON.parse(await readFile(join(desktop.dataDir, 'window.json'), 'utf8'))).toMatchObject({ width: 1440 })
})

test('opens links in the person’s browser, and keeps the window on the app', async () => {
  await using desktop = await startDesktop()
  const { page } = desktop
  await page.waitForSelector('#app > *')
  const home = page.url()
  await page.evaluate("void window.open('https://example.invalid/docs')")
  expect(await desktop.called('shell.openExternal')).toEqual({
    name: 'shell.openExternal',
    args: ['https://example.invalid/docs'],
  })
  desktop.answer('dialog.showMessageBox', { response: 1, checkboxChecked: false })
  await page.evaluate("void window.open('http://127.1:4870/api')")
  expect(await desktop.called('dialog.showMessageBox')).toMatchObject({
    args: [{ detail: expect.stringContaining('http://127.0.0.1:4870/api') as string }],
  })
  await page.evaluate("location.href = 'file:///etc/passwd'")
  await page.evaluate("window.copse.call('system.get', {})")
  expect(page.url()).toBe(home)
})

test('opens a folder and a line of a worktree’s file in an editor of this machine', async () => {
  const programs = await mkdtemp(join(tmpdir(), 'copse-editors-'))
  await using _ = { [Symbol.asyncDispose]: () => rm(programs, { recursive: true, force: true }) }
  const note = join(programs, 'told')
  await writeFile(join(programs, 'subl'), `#!/bin/sh\nprintf '%s' "$*" > ${note}.half && mv ${note}.half ${note}\n`, {
    mode: 0o755,
  })
  await using desktop = await startDesktop({ env: { PATH: `${programs}:${process.env['PATH']}` } })
  const { page, dataDir } = desktop
  await page.waitForSelector('#app > *')
  const ask = (method: string, ...args: readonly unknown[]) =>
    page.evaluate(`window.copse.${method}(...${JSON.stringify(args)})`)
  const names = 'window.copse.folderTools().then((tools) => tools.map((tool) => tool.name))'
  expect(await page.evaluate(names)).not.toContain('VSCodium')
  expect(await ask('openFolder', 'vscodium', dataDir)).toBe(false)
  desktop.answer('app.getApplicationNameForProtocol', 'codium.desktop')
  expect(await page.evaluate(names)).toContain('VSCodium')
  expect(await ask('openFolder', 'vscodium', dataDir)).toBe(true)
  expect((await desktop.called('shell.openExternal')).args).toEqual([`vscodium://file${dataDir}`])
  expect(await ask('openFolder', 'vscodium', 'relative')).toBe(false)
  expect(await ask('openFolder', 'file', dataDir)).toBe(false)

  // A line of a file in a task's worktree, and nowhere else.
  await using repository = await createTestRepository({ files: { 'README.md': 'a\n' } })
  const project = await makeProject(desktop, repository)
  const busy = { name: 'Busy', executor: 'command', config: { command: 'sleep 600' } }
  const agent = await call<{ id: string }>(desktop, 'agents.create', busy)
  const task = await call<{ id: string }>(desktop, 'tasks.create', { project_id: project.id, title: 'Open it' })
  const open = (path: string, line: unknown, id = task.id) => ask('openFile', 'sublime', id, path, line)
  expect(await open('README.md', 3)).toBe(false)
  const { workspace } = await call<{ workspace: { path: string } }>(desktop, 'tasks.claim', {
    task_id: task.id,
    agent_id: agent.id,
  })
  const file = join(workspace.path, 'README.md')
  await writeFile(file, 'one\n')
  await symlink(dataDir, join(workspace.path, 'out'))
  const outside = ['../../window.json', '/etc/hostname', 'out/window.json', '.git', '', 'nowhere.txt']
  for (const path of outside) expect(await open(path, 3), path).toBe(false)
  for (const line of [0, -1, 1.5, '3; x', null]) expect(await open('README.md', line), String(line)).toBe(false)
  expect(await open('README.md', 3, 'nonsense')).toBe(false)
  expect(await open('README.md', 3)).toBe(true)
  await expect.poll(() => readFile(note, 'utf8').catch(() => ''), { timeout: 80_000 }).toBe(`${file}:3`)
  expect(desktop.calls.filter((made) => made.name === 'shell.openExternal')).toHaveLength(1)
  await rm(workspace.path, { recursive: true })
  expect(await open('README.md', 3), 'a worktree whose folder is gone').toBe(false)
})

test('has a helper start git when there is much of it, which ends with the app', async () => {
  await using desktop = await startDesktop()
  await desktop.page.waitForSelector('#app > *')
  await using repository = await createTestRepository()
  const helpers = async () => {
    const { stdout } = await execute('ps', ['-A', '-o', 'ppid=,pid=,args='])
    const lines = stdout.split('\n').filter((line) => line.includes('git-helper.js'))
    return lines
      .map((line) => line.trim().split(/ +/).map(Number))
      .flatMap(([ppid, pid]) => (ppid === desktop.pid ? pid : []))
  }
  const work = async () => {
    await Promise.all(
      Array.from({ length: 20 }, () => call(desktop, 'system.inspect_folder', { path: repository.path })),
    )
    return await helpers()
  }
  await expect.poll(work, { timeout: 80_000 }).toHaveLength(1)
  const [helper = 0] = await helpers()
  await desktop.page.close()
  expect(await desktop.exited).toBe(0)
  expect(() => process.kill(helper, 0)).toThrow('ESRCH')
})

test('ends streams with their page, and streams again after a reload', async () => {
  await using desktop = await startDesktop()
  const { page } = desktop
  await page.waitForSelector('#app > *')
  const seen = `new Promise((resolve) => {
    const stop = window.copse.subscribe('events.stream', {}, 0, (reply) => { stop(); resolve(reply.kind) })
    void window.copse.call('agents.create', { name: 'A', executor: 'external' })
  })`
  expect(await page.evaluate(seen)).toBe('item')
  await page.reload()
  await page.waitForSelector('#app > *')
  expect(
    await page.evaluate(
      "new Promise((resolve) => window.copse.subscribe('events.stream', {}, 0, (reply) => resolve(reply.kind)))",
    ),
  ).toBe('item')
})

test('shows a notification by the system, opens its task on click, and counts on the icon', async () => {
  await using desktop = await startDesktop()
  const { page } = desktop
  await page.waitForSelector('#app > *')
  desktop.answer('notification.show', 'click')
  const responseTo = (notice: object) =>
    page.evaluate(`new Promise((resolve) => window.copse.notify(${JSON.stringify(notice)}, resolve))`)
  expect(await responseTo({ tag: 't', title: 'It is done', body: 'Merged' })).toEqual({ kind: 'clicked' })
  expect(await desktop.called('notification.show')).toMatchObject({
    args: [{ title: 'It is done', body: 'Merged', silent: true }],
  })
  expect(await desktop.called('window.focus')).toMatchObject({ name: 'window.focus' })
  // An answer in the notification leaves the window where it is.
  const focused = () => desktop.calls.filter(({ name }) => name === 'window.focus').length
  const before = focused()
  const asks = {
    tag: 'q',
    title: 'Asks',
    body: 'Wants to run ls',
    actions: ['Allow', 'Deny'],
    reply: 'Your own answer',
  }
  desktop.answer('notification.show', ['action', { actionIndex: 1 }])
  expect(await responseTo(asks)).toEqual({ kind: 'action', index: 1 })
  expect(desktop.calls.findLast(({ name }) => name === 'notification.show')?.args).toMatchObject([
    {
      actions: [
        { type: 'button', text: 'Allow' },
        { type: 'button', text: 'Deny' },
      ],
      ...{ hasReply: true, replyPlaceholder: 'Your own answer' },
    },
  ])
  desktop.answer('notification.show', ['reply', { reply: 'Both' }])
  expect(await responseTo(asks)).toEqual({ kind: 'reply', text: 'Both' })
  expect(focused()).toBe(before)
  await page.evaluate('window.copse.setBadge(7)')
  await expect
    .poll(() => desktop.calls.some(({ name, args }) => name === 'app.setBadgeCount' && args[0] === 7))
    .toBe(true)
})

test('handles menu, tray, links, drops and settings, and ends no agent unasked', async () => {
  await using desktop = await startDesktop({ args: ['copse://task/nonsense'] })
  const { page } = desktop
  const soon = { timeout: 80_000 }
  const last = (name: string) => JSON.stringify(desktop.calls.findLast((call) => call.name === name)?.args ?? null)
  // The link of the cold start has waited for the page.
  await page.getByText('open this link').waitFor()
  await using repository = await createTestRepository({ files: { 'README.md': 'a\n' } })
  const project = await makeProject(desktop, repository)

  // The menu has the page's commands with their current keys, also after a change.
  await expect.poll(() => last('Menu.setApplicationMenu'), soon).toContain('"accelerator":"C"')
  desktop.click('Add Project…')
  await page.getByRole('heading', { name: 'Add a project' }).waitFor()
  await page.getByRole('button', { name: 'Back to the board' }).click()

  // The settings are the desktop's.
  desktop.click('Check for Updates…')
  const settings = page.getByRole('region', { name: 'Desktop' })
  await settings.getByText('Copse runs from its sources here').waitFor()
  await expect.poll(() => settings.getByRole('switch', { name: 'Start with the system' }).isDisabled(), soon).toBe(true)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  expect(await violationsInThemes(page), 'desktop settings').toEqual([])
  await settings.getByRole('button', { name: 'Stop them' }).click()
  await settings.getByRole('button', { name: 'Stop them', pressed: true }).waitFor()
  await page.getByRole('link', { name: 'Appearance' }).click()
  await page.getByRole('button', { name: 'Dark' }).click()
  await expect.poll(() => last('nativeTheme.themeSource'), soon).toBe('["dark"]')
  const kept = JSON.parse(await readFile(join(desktop.dataDir, 'desktop.json'), 'utf8')) as unknown
  expect(kept).toMatchObject({ whenQuit: 'end', theme: 'dark' })

  // A quick task from the tray, on any screen.
  desktop.click('New Task…')
  await page.getByRole('dialog', { name: 'New task' }).waitFor()
  await page.keyboard.press('Escape')

  // Tasks that a second start links to, and dropped text.
  const task = await call<{ id: string }>(desktop, 'tasks.create', {
    project_id: project.id,
    title: 'Linked from elsewhere',
    description: 'sleep',
  })
  expect(await desktop.startAgain(`copse://task/${task.id}`)).toBe(0)
  await page.locator('[data-task-panel]').getByText('Linked from elsewhere').first().waitFor()
  await drop(desktop, join(desktop.dataDir, 'window.json'))
  await page.getByText('Drop a folder that is a git repository').waitFor()
  await drop(desktop, desktop.dataDir)
  await page.getByText('This folder isn’t a git repository').waitFor()

  // An agent works: the tray counts it, and closing the window asks once.
  const agent = await call<{ id: string }>(desktop, 'agents.create', {
    name: 'Sleeper',
    executor: 'command',
    config: { command: 'sleep 600' },
  })
  await call(desktop, 'tasks.claim', { task_id: task.id, agent_id: agent.id })
  await expect.poll(() => last('tray.setToolTip'), soon).toBe('["Copse: 1 agent running"]')
  desktop.click('Pause All Projects')
  await expect.poll(() => last('tray.setContextMenu'), soon).toContain('Resume Projects')
  desktop.closeWindow()
  await desktop.called('window.hide')
  desktop.closeWindow()
  await expect.poll(() => desktop.calls.filter(({ name }) => name === 'window.hide').length, soon).toBe(2)
  expect(desktop.calls.filter(({ name }) => name === 'dialog.showMessageBox')).toHaveLength(1)
  // The page stays alive behind the tray, and quitting follows the choice above.
  expect(await call(desktop, 'system.get', {})).toMatchObject({ data_dir: desktop.dataDir })
  desktop.click('Quit Copse')
  expect(await desktop.exited).toBe(0)
  expect(desktop.log()).toBe('')
})

const makeProject = (desktop: Desktop, { path }: { readonly path: string }) =>
  call<{ id: string }>(desktop, 'projects.create', { name: 'Here', repo_path: path })

async function call<T>({ page }: Desktop, name: string, input: unknown): Promise<T> {
  const reply = await page.evaluate<{ ok: boolean; value: T }>(
    `window.copse.call(${JSON.stringify(name)}, ${JSON.stringify(input)})`,
  )
  expect(reply, name).toMatchObject({ ok: true })
  return reply.value
}

/** Imitates a file manager: the pointer enters with something, and drops it. */
async function drop({ page }: Desktop, path: string): Promise<void> {
  await page.evaluate(`document.documentElement.dataset.droppedPath = ${JSON.stringify(path)}`)
  const cdp = await page.context().newCDPSession(page)
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await cdp.send('Input.dispatchDragEvent', { type, x: 400, y: 300, data })
  await cdp.detach()
}
