import { EventEmitter } from 'node:events'
import { record } from './protocol-to-parent.ts'

export { app } from './app.ts'
export { BrowserWindow } from './browser-window.ts'
export { ipcMain } from './ipc-main.ts'
export { protocol } from './app-scheme.ts'
export { safeStorage } from './safe-storage.ts'

export const shell = {
  openExternal: (...args: unknown[]) => Promise.resolve(record('shell.openExternal', args, undefined)),
  showItemInFolder: (...args: unknown[]) => record('shell.showItemInFolder', args, undefined),
}

export const dialog = {
  showOpenDialog: (...args: unknown[]) =>
    Promise.resolve(record('dialog.showOpenDialog', [args.at(-1)], { canceled: true, filePaths: [] })),
  showErrorBox: (...args: unknown[]) => record('dialog.showErrorBox', args, undefined),
}

export const session = {
  defaultSession: {
    setPermissionRequestHandler: () => record('session.setPermissionRequestHandler', [], undefined),
    setPermissionCheckHandler: () => record('session.setPermissionCheckHandler', [], undefined),
  },
}

export const Menu = {
  buildFromTemplate: (template: unknown) => template,
  setApplicationMenu: (menu: unknown) => record('Menu.setApplicationMenu', [menu], undefined),
}

/** A test clicks it by answering `click` to its being shown. */
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
    if (record('notification.show', [this.#options], null) === 'click') this.emit('click')
  }

  close(): void {
    this.emit('close')
  }
}
