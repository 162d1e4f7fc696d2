import { app, BrowserWindow, nativeImage, Notification } from 'electron'
import type { SystemNotice } from '../../src-shared/contract/desktop.ts'

/** Those that are shown: an object that nobody holds would be collected, and its click never heard. */
const shown = new Map<string, Notification>()

/** Shows it without a sound of the system's; a newer one of the same tag takes its place. */
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

/** The number on the app's icon, where the desktop has a place for one; 0 takes it away. */
export function setBadge(count: number, dotFile: string): void {
  app.setBadgeCount(count)
  if (process.platform !== 'win32') return
  // Windows knows no number, only a small picture on the task bar's.
  const dot = count === 0 ? null : nativeImage.createFromPath(dotFile)
  for (const window of BrowserWindow.getAllWindows()) window.setOverlayIcon(dot, count === 0 ? '' : `${count} unread`)
}
