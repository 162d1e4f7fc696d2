import type { MenuItemConstructorOptions } from 'electron'
import { expect, test } from 'vitest'
import { acceleratorOf } from '../../../src-main/desktop/accelerator.ts'
import { menuTemplate, type MenuParts } from '../../../src-main/desktop/menu-template.ts'
import { commandList } from '../../../src-renderer/model/command-list.ts'

function menu(options: Partial<MenuParts> = {}) {
  const asked: unknown[] = []
  const commands = commandList.map(({ id, label, keys }) => ({ id, label, keys: keys[0] ?? null }))
  const template = menuTemplate({
    platform: 'linux',
    developer: false,
    commands,
    ask: (request) => asked.push(request),
    showLicences: () => asked.push('licences'),
    ...options,
  })
  const items = template.flatMap(({ submenu }) => submenu as MenuItemConstructorOptions[]).filter(Boolean)
  const item = (label: string) => items.find((one) => one.label === label)
  return { template, asked, item }
}
const event = {} as Electron.KeyboardEvent
const press = (item: MenuItemConstructorOptions | undefined, how = event) =>
  item?.click?.({} as Electron.MenuItem, undefined, how)

test.each([
  ['$mod+k', 'CmdOrCtrl+K'],
  ['c', 'C'],
  ['[Shift]+/', '/'],
  ['$mod+Shift+ArrowUp', 'CmdOrCtrl+Shift+Up'],
  ['Alt++', 'Alt+Plus'],
  ['F5', 'F5'],
  ['g b', null],
  ['ö', null],
])('shows %s as %s', (binding, accelerator) => {
  expect(acceleratorOf(binding, 'linux')).toBe(accelerator)
})

test('gives macOS no key without a modifier, because the menu would take it while typing', () => {
  expect([acceleratorOf('c', 'darwin'), acceleratorOf('Shift+c', 'darwin')]).toEqual([null, null])
  expect(acceleratorOf('$mod+k', 'darwin')).toBe('CmdOrCtrl+K')
})

test('shows the page’s commands with their current keys, and runs them in the page', () => {
  const commands = [{ id: 'new', label: 'New task', keys: 'n' }]
  const { item, asked } = menu({ commands })
  expect(item('New task')).toMatchObject({ accelerator: 'N', registerAccelerator: false })
  press(item('New task'))
  press(item('New task'), { triggeredByAccelerator: true })
  press(item('Add Project…'))
  expect(asked).toEqual([
    { kind: 'command', id: 'new' },
    { kind: 'open_screen', screen: 'add' },
  ])
})

test('contains only commands of the page', () => {
  const labels = menu().template.map(({ label, role }) => label ?? role)
  expect(labels).toEqual(['&File', 'editMenu', '&View', '&Go', '&Task', 'windowMenu', '&Help'])
  for (const [name, count] of [
    ['&Go', 4],
    ['&Task', 8],
  ] as const) {
    const { submenu } = menu().template.find(({ label }) => label === name) ?? {}
    expect(submenu, name).toHaveLength(count)
  }
})

test('has only standard menus before the page is ready, and no developer tools', () => {
  const { template } = menu({ commands: [] })
  expect(template.map(({ label, role }) => label ?? role)).toEqual([
    '&File',
    'editMenu',
    '&View',
    'windowMenu',
    '&Help',
  ])
  expect(JSON.stringify(template)).not.toContain('toggleDevTools')
  expect(JSON.stringify(menu({ developer: true }).template)).toContain('toggleDevTools')
  expect(menu({ platform: 'darwin' }).template[0]).toMatchObject({ label: 'Copse' })
})
