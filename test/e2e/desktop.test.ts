import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startDesktop } from './harness/electron-standin/start-desktop.ts'

test('the window shows the app as the local operator, over IPC, with nothing of Node in the page', async () => {
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

test('the app ends cleanly when its window is closed, and remembers the window', async () => {
  await using desktop = await startDesktop()
  await desktop.page.waitForSelector('#app > *')
  await desktop.page.close()
  expect(await desktop.exited).toBe(0)
  expect(desktop.log()).toBe('')
  expect(JSON.parse(await readFile(join(desktop.dataDir, 'window.json'), 'utf8'))).toMatchObject({ width: 1440 })
})

test('links leave for the person’s browser and the window stays on the app', async () => {
  await using desktop = await startDesktop()
  const { page } = desktop
  await page.waitForSelector('#app > *')
  const home = page.url()
  await page.evaluate("void window.open('https://example.invalid/docs')")
  expect(await desktop.called('shell.openExternal')).toEqual({
    name: 'shell.openExternal',
    args: ['https://example.invalid/docs'],
  })
  await page.evaluate("location.href = 'file:///etc/passwd'")
  await page.evaluate("window.copse.call('system.get', {})")
  expect(page.url()).toBe(home)
})

test('a folder opens in an editor of this machine, and nothing opens what is none', async () => {
  await using desktop = await startDesktop()
  const { page, dataDir } = desktop
  await page.waitForSelector('#app > *')
  const open = (tool: string, path: string) =>
    page.evaluate(`window.copse.openFolder(${JSON.stringify(tool)}, ${JSON.stringify(path)})`)
  const names = 'window.copse.folderTools().then((tools) => tools.map((tool) => tool.name))'
  expect(await page.evaluate(names)).not.toContain('VS Code')
  expect(await open('vscode', dataDir)).toBe(false)
  desktop.answer('app.getApplicationNameForProtocol', 'code.desktop')
  expect(await page.evaluate(names)).toContain('VS Code')
  expect(await open('vscode', dataDir)).toBe(true)
  expect((await desktop.called('shell.openExternal')).args).toEqual([`vscode://file${dataDir}`])
  expect(await open('vscode', 'relative')).toBe(false)
  expect(await open('file', dataDir)).toBe(false)
  expect(desktop.calls.filter((call) => call.name === 'shell.openExternal')).toHaveLength(1)
})

test('streams end with the page that asked for them and work again after a reload', async () => {
  await using desktop = await startDesktop()
  const { page } = desktop
  await page.waitForSelector('#app > *')
  const seen = `new Promise((resolve) => {
    const stop = window.copse.subscribe('events.stream', {}, 0, (reply) => { stop(); resolve(reply.kind) })
    void window.copse.call('demo.create', {})
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

test('a notification is shown by the system, its click brings the window and the page is told; the icon has a number', async () => {
  await using desktop = await startDesktop()
  const { page } = desktop
  await page.waitForSelector('#app > *')
  desktop.answer('notification.show', 'click')
  const clicked = page.evaluate(
    "new Promise((resolve) => window.copse.notify({ tag: 't', title: 'It is done', body: 'Merged' }, () => resolve('clicked')))",
  )
  expect(await clicked).toBe('clicked')
  expect(await desktop.called('notification.show')).toMatchObject({
    args: [{ title: 'It is done', body: 'Merged', silent: true }],
  })
  expect(await desktop.called('window.focus')).toMatchObject({ name: 'window.focus' })
  await page.evaluate('window.copse.setBadge(7)')
  await expect
    .poll(() => desktop.calls.some(({ name, args }) => name === 'app.setBadgeCount' && args[0] === 7))
    .toBe(true)
})
