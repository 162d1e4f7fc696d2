import { ipcMain, type IpcMainEvent, type IpcMainInvokeEvent } from 'electron'
import { isTrustedSender } from './trusted-sender.ts'

/** Channels that only our own page may use; disposing closes them all. */
export interface TrustedIpc extends Disposable {
  /** Answers calls. */
  handle(channel: string, answer: (event: IpcMainInvokeEvent, ...args: unknown[]) => unknown): void
  /** Hears what is only sent. */
  on(channel: string, listen: (event: IpcMainEvent, ...args: unknown[]) => void): void
}

/** Opens no channel yet. */
export function openTrustedIpc(): TrustedIpc {
  const open = new DisposableStack()
  return {
    handle: (channel, answer) => {
      ipcMain.handle(channel, (event, ...args: unknown[]) => {
        if (!isTrustedSender(event)) throw new Error("This page isn't allowed to call Copse.")
        return answer(event, ...args)
      })
      open.defer(() => ipcMain.removeHandler(channel))
    },
    on: (channel, listen) => {
      const listener = (event: IpcMainEvent, ...args: unknown[]) => {
        if (isTrustedSender(event)) listen(event, ...args)
      }
      ipcMain.on(channel, listener)
      open.defer(() => ipcMain.off(channel, listener))
    },
    [Symbol.dispose]: () => open[Symbol.dispose](),
  }
}
