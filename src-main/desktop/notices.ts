import { app, BrowserWindow, nativeImage, Notification } from 'electron'
import type { SystemNotice } from '../../src-shared/contract/desktop.ts'

/** Shown notifications, held here because a collected one would lose its click. */
const shown = new Map<string, Notification>()

/** Shows a notification without the system's sound; replaces an older one of the same tag. */
export function showNotice(notice: SystemNotice, onClick: () => void): void {
  if (!Notification.isSupported()) return
  shown.get(notice.tag)?.close()
  const notification = new Notification({ title: notice.title, body: notice.body, silent: true })
  shown.set(notice.tag, notification)
  const forget = () => {
    if (shown.get(notice.tag) === notification) shown.delete(notice.tag)
  }
  notification.on('close', forget)
  notification.on('click', () => {
    forget()
    onClick()
  })
  notification.show()
}

/** Sets the number on the app's icon where the desktop shows one; 0 removes it. */
export function setBadge(count: number, dotFile: string): void {
  app.setBadgeCount(count)
  if (process.platform !== 'win32') return
  // Windows shows no number, only a small overlay image on the task bar.
  const dot = count === 0 ? null : nativeImage.createFromPath(dotFile)
  for (const window of BrowserWindow.getAllWindows()) window.setOverlayIcon(dot, count === 0 ? '' : `${count} unread`)
}
