import { EventEmitter } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { closeForeignPages } from './browser.ts'
import { record } from './protocol-to-parent.ts'

class App extends EventEmitter {
  readonly isPackaged = false
  /** Set by the module of the windows. */
  closeWindows: () => Promise<void> = () => Promise.resolve()
  readonly #paths = new Map<string, string>()
  readonly #ready = closeForeignPages().then(() => {
    this.#isReady = true
    this.emit('ready')
  })
  #isReady = false
  #quitting = false

  whenReady(): Promise<void> {
    return this.#ready
  }

  isReady(): boolean {
    return this.#isReady
  }

  setBadgeCount(...args: unknown[]): unknown {
    return record('app.setBadgeCount', args, true)
  }

  setName(): void {
    // The stand-in shows the name nowhere.
  }

  setAppUserModelId(): void {
    // Used on Windows only.
  }

  getPath(name: string): string {
    const path = this.#paths.get(name)
    if (path === undefined) throw new Error(`${name} has no path`)
    return path
  }

  getLoginItemSettings() {
    return { openAtLogin: false, wasOpenedAtLogin: false }
  }

  getApplicationNameForProtocol(...args: unknown[]): unknown {
    return record('app.getApplicationNameForProtocol', args, '')
  }

  setPath(name: string, path: string): void {
    this.#paths.set(name, path)
  }

  /** Stores a pid in userData; a second start leaves its arguments there and signals the first. */
  requestSingleInstanceLock(): boolean {
    const folder = this.#paths.get('userData')
    if (folder === undefined) throw new Error('userData has no path yet')
    mkdirSync(folder, { recursive: true })
    const lock = join(folder, 'standin.pid')
    const args = join(folder, 'standin.args')
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
    } catch {
      const holder = Number(readFileSync(lock, 'utf8'))
      if (isRunning(holder)) {
        writeFileSync(args, JSON.stringify(process.argv))
        process.kill(holder, 'SIGUSR2')
        return false
      }
      writeFileSync(lock, String(process.pid))
    }
    process.on('SIGUSR2', () => {
      this.emit('second-instance', {}, JSON.parse(readFileSync(args, 'utf8')), '')
      record('app.second-instance', [], null)
    })
    process.once('exit', () => rmSync(lock, { force: true }))
    return true
  }

  /** Electron's order: before-quit (may be prevented), the windows close, will-quit (too), quit. */
  quit(): void {
    if (this.#quitting) return
    let prevented = false
    const event = { preventDefault: () => (prevented = true) }
    this.emit('before-quit', event)
    if (prevented) return
    this.#quitting = true
    void this.closeWindows().then(() => {
      this.emit('will-quit', event)
      this.#quitting = false
      if (prevented) return
      this.emit('quit', {}, 0)
      process.exit(0)
    })
  }

  exit(code = 0): void {
    process.exit(code)
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

export const app = new App()
