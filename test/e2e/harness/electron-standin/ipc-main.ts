import { EventEmitter } from 'node:events'
import { setTimeout } from 'node:timers/promises'

type Handler = (event: unknown, ...args: unknown[]) => unknown

/** Like slow-answers.mjs, for the window's requests. */
const most = Number(process.env['COPSE_SLOW_ANSWERS'] ?? 0)
const late = () => (most > 0 ? setTimeout(Math.random() ** 3 * most) : null)

class IpcMain extends EventEmitter {
  readonly #handlers = new Map<string, Handler>()

  handle(channel: string, handler: Handler): void {
    if (this.#handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`)
    this.#handlers.set(channel, handler)
  }

  removeHandler(channel: string): void {
    this.#handlers.delete(channel)
  }

  /** Rejects with the text of Electron's renderer. */
  async invoke(channel: string, event: unknown, args: readonly unknown[]): Promise<unknown> {
    await late()
    try {
      const handler = this.#handlers.get(channel)
      if (!handler) throw new Error(`No handler registered for '${channel}'`)
      return await handler(event, ...args)
    } catch (error) {
      throw new Error(`Error invoking remote method '${channel}': ${String(error)}`, { cause: error })
    } finally {
      await late()
    }
  }
}

export const ipcMain = new IpcMain()
