import { EventEmitter } from 'node:events'
import { app } from './app.ts'
import { record } from './protocol-to-parent.ts'
import { WebContents } from './web-contents.ts'

export interface WindowOptions {
  readonly x?: number
  readonly y?: number
  readonly width: number
  readonly height: number
  readonly webPreferences: { readonly preload: string }
}

const windows = new Set<BrowserWindow>()

export class BrowserWindow extends EventEmitter {
  readonly webContents: WebContents
  readonly #options: WindowOptions
  #closing = false

  constructor(options: WindowOptions) {
    super()
    record('new BrowserWindow', [options], undefined)
    this.#options = options
    this.webContents = new WebContents(options.webPreferences.preload)
    this.webContents.once('destroyed', () => this.#gone())
    windows.add(this)
  }

  static getAllWindows(): BrowserWindow[] {
    return [...windows]
  }

  static fromWebContents(contents: WebContents): BrowserWindow | null {
    return [...windows].find((window) => window.webContents === contents) ?? null
  }

  async loadURL(address: string): Promise<void> {
    await this.webContents.load(address)
    this.emit('ready-to-show')
  }

  close(): void {
    let prevented = false
    this.#closing = true
    this.emit('close', { preventDefault: () => (prevented = true) })
    if (prevented) this.#closing = false
    else void this.webContents.ready.then(({ page }) => page.close())
  }

  getNormalBounds() {
    const { x = 0, y = 0, width, height } = this.#options
    return { x, y, width, height }
  }

  isMaximized(): boolean {
    return false
  }

  isMinimized(): boolean {
    return false
  }

  show(): void {
    record('window.show', [], undefined)
  }

  hide(): void {
    record('window.hide', [], undefined)
  }

  focus(): void {
    record('window.focus', [], undefined)
  }

  maximize(): void {
    record('window.maximize', [], undefined)
  }

  restore(): void {
    record('window.restore', [], undefined)
  }

  #gone(): void {
    // The person closed the page, which nothing can prevent here.
    if (!this.#closing) this.emit('close', { preventDefault: () => undefined })
    windows.delete(this)
    this.emit('closed')
    if (windows.size === 0) app.emit('window-all-closed')
  }
}

app.closeWindows = async () => {
  const closed = [...windows].map((window) => new Promise((resolve) => window.once('closed', resolve)))
  for (const window of windows) window.close()
  await Promise.all(closed)
}
