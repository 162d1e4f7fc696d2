import { EventEmitter } from 'node:events'
import { record } from './protocol-to-parent.ts'

export { app } from './app.ts'
export { BrowserWindow } from './browser-window.ts'
export { ipcMain } from './ipc-main.ts'
export { protocol } from './app-scheme.ts'
export { safeStorage } from './safe-storage.ts'
export { Menu, Tray } from './menus.ts'
export { utilityProcess } from './utility-process.ts'

export const shell = {
  openExternal: (...args: unknown[]) => Promise.resolve(record('shell.openExternal', args, undefined)),
  openPath: (...args: unknown[]) => Promise.resolve(record('shell.openPath', args, '')),
  showItemInFolder: (...args: unknown[]) => record('shell.showItemInFolder', args, undefined),
}

export const dialog = {
  showOpenDialog: (...args: unknown[]) =>
    Promise.resolve(record('dialog.showOpenDialog', [args.at(-1)], { canceled: true, filePaths: [] })),
  showMessageBox: (...args: unknown[]) =>
    Promise.resolve(record('dialog.showMessageBox', [args.at(-1)], { response: 0, checkboxChecked: false })),
  showErrorBox: (...args: unknown[]) => record('dialog.showErrorBox', args, undefined),
}

export const session = {
  defaultSession: {
    setPermissionRequestHandler: () => record('session.setPermissionRequestHandler', [], undefined),
    setPermissionCheckHandler: () => record('session.setPermissionCheckHandler', [], undefined),
  },
}

export const nativeTheme = {
  shouldUseDarkColors: false,
  set themeSource(theme: string) {
    record('nativeTheme.themeSource', [theme], undefined)
  },
}

export const nativeImage = { createFromPath: (path: string) => path }

/** One display; a test can set its place and size. */
const display = () => record('screen', [], { id: 1, workArea: { x: 0, y: 0, width: 1920, height: 1080 } })
export const screen = { getPrimaryDisplay: display, getAllDisplays: () => [display()] }

export const powerMonitor = new EventEmitter()

/** A test clicks it by answering `click` to `show`, or presses a button or replies by an event with its details. */
export class Notification extends EventEmitter {
  readonly #options: unknown

  constructor(options: unknown) {
    super()
    this.#options = options
  }

  static isSupported(): boolean {
    return true
  }

  show(): void {
    const answer: unknown = record('notification.show', [this.#options], null)
    if (answer === 'click') this.emit('click')
    else if (Array.isArray(answer)) this.emit(String(answer[0]), answer[1])
  }

  close(): void {
    this.emit('close')
  }
}
