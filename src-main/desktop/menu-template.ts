import type { MenuItemConstructorOptions } from 'electron'
import type { DesktopRequest, MenuCommand } from '../../src-shared/contract/desktop.ts'
import { acceleratorOf } from './accelerator.ts'

/** Data of the menus. */
export interface MenuParts {
  readonly platform: NodeJS.Platform
  readonly developer: boolean
  /** The page's commands with the user's keys; empty until the page has sent them. */
  readonly commands: readonly MenuCommand[]
  ask(request: DesktopRequest): void
  showLicences(): void
}

const separator: MenuItemConstructorOptions = { type: 'separator' }
const goTo = ['go-board', 'go-inbox', 'go-agents', 'go-workflow']
const onTask = ['open', 'changes', 'review', 'full', 'edit', 'move', 'start', 'stop']

/** Returns the native menus: the page's commands with their current keys, and the items that every program has. */
export function menuTemplate(parts: MenuParts): MenuItemConstructorOptions[] {
  const mac = parts.platform === 'darwin'
  const of = (...ids: readonly string[]) => ids.flatMap((id) => commandItem(parts, id))
  const settings = of('go-settings').map((item) => ({ ...item, label: 'Settings…' }))
  const file: MenuItemConstructorOptions[] = [
    ...of('new'),
    { label: 'Add Project…', click: () => parts.ask({ kind: 'open_screen', screen: 'add' }) },
    separator,
    ...(mac ? [] : [...settings, separator]),
    { role: 'close' },
    ...(mac ? [] : [{ role: 'quit' } as const]),
  ]
  const view: MenuItemConstructorOptions[] = [
    ...of('palette', 'search'),
    separator,
    { role: 'resetZoom' },
    { role: 'zoomIn' },
    { role: 'zoomOut' },
    separator,
    { role: 'togglefullscreen' },
    ...(parts.developer ? [{ role: 'reload' } as const, { role: 'toggleDevTools' } as const] : []),
  ]
  const help: MenuItemConstructorOptions[] = [
    ...of('shortcuts'),
    separator,
    { label: 'Check for Updates…', click: () => parts.ask({ kind: 'open_screen', screen: 'settings/desktop' }) },
    { label: 'Licences', click: parts.showLicences },
    ...(mac ? [] : [{ role: 'about' } as const]),
  ]
  return [
    ...(mac ? [{ label: 'Copse', submenu: appMenu(settings) }] : []),
    { label: '&File', submenu: file },
    { role: 'editMenu' },
    { label: '&View', submenu: view },
    ...submenu('&Go', of(...goTo)),
    ...submenu('&Task', of(...onTask)),
    { role: 'windowMenu' },
    { role: 'help', label: '&Help', submenu: help },
  ]
}

function appMenu(settings: readonly MenuItemConstructorOptions[]): MenuItemConstructorOptions[] {
  return [
    { role: 'about' },
    separator,
    ...settings,
    separator,
    { role: 'services' },
    separator,
    { role: 'hide' },
    { role: 'hideOthers' },
    { role: 'unhide' },
    separator,
    { role: 'quit' },
  ]
}

function submenu(label: string, items: MenuItemConstructorOptions[]): MenuItemConstructorOptions[] {
  return items.length === 0 ? [] : [{ label, submenu: items }]
}

/**
 * Returns a command's menu item. The page handles its keys itself: the menu only displays them, and a click asks the
 * page.
 */
function commandItem({ commands, platform, ask }: MenuParts, id: string): MenuItemConstructorOptions[] {
  const command = commands.find((one) => one.id === id)
  if (command === undefined) return []
  const accelerator = command.keys === null ? null : acceleratorOf(command.keys, platform)
  return [
    {
      id,
      label: command.label.replaceAll('&', '&&'),
      registerAccelerator: false,
      ...(accelerator !== null && { accelerator }),
      click: (_item, _window, event) => {
        // If the system triggers the accelerator anyway, the page has handled the key already.
        if (event.triggeredByAccelerator !== true) ask({ kind: 'command', id })
      },
    },
  ]
}
