import { ipcMain, type IpcMainEvent, type IpcMainInvokeEvent } from 'electron'
import { isTrustedSender } from './trusted-sender.ts'

/** IPC channels that accept only the app's own page; disposing closes them. */
export interface TrustedIpc extends Disposable {
  handle(channel: string, answer: (event: IpcMainInvokeEvent, ...args: unknown[]) => unknown): void
  /** Listens to one-way messages. */
  on(channel: string, listen: (event: IpcMainEvent, ...args: unknown[]) => void): void
}

/** Creates the registry, without channels yet. */
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
