import { EventEmitter } from 'node:events'
import { BrowserWindow } from './browser-window.ts'
import { onAct, record } from './protocol-to-parent.ts'

interface Item {
  readonly label?: string
  readonly submenu?: readonly Item[]
  readonly click?: (item: unknown, window: unknown, event: unknown) => void
}

/** The latest of each kind, whose items the test clicks. */
const shown = new Map<string, readonly Item[]>()

export const Menu = {
  buildFromTemplate: (template: readonly Item[]) => template,
  setApplicationMenu: (menu: readonly Item[]) => {
    shown.set('menu', menu)
    record('Menu.setApplicationMenu', [menu], undefined)
  },
}

export class Tray extends EventEmitter {
  constructor(image: string) {
    super()
    record('new Tray', [image], undefined)
  }

  setToolTip(text: string): void {
    record('tray.setToolTip', [text], undefined)
  }

  setTitle(): void {
    // Shown on macOS only.
  }

  setContextMenu(menu: readonly Item[]): void {
    shown.set('tray', menu)
    record('tray.setContextMenu', [menu], undefined)
  }
}

onAct('click', (label) => {
  const items = [...shown.values()].flat().flatMap((item) => [item, ...(item.submenu ?? [])])
  items.find((item) => item.label === label)?.click?.({}, undefined, {})
})
onAct('close', () => BrowserWindow.getAllWindows()[0]?.close())
