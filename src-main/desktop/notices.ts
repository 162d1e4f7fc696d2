import { app, BrowserWindow, nativeImage, Notification } from 'electron'
import type { NoticeResponse, SystemNotice } from '../../src-shared/contract/desktop.ts'

/** Shown notifications, held here because a collected one would lose its click. */
const shown = new Map<string, Notification>()

/** Shows a notification without the system's sound; replaces an older one of the same tag. */
export function showNotice(notice: SystemNotice, onResponse: (response: NoticeResponse) => void): void {
  if (!Notification.isSupported()) return
  shown.get(notice.tag)?.close()
  const { title, body, actions = [], reply } = notice
  const notification = new Notification({
    title,
    body,
    silent: true,
    ...(actions.length > 0 && { actions: actions.map((text) => ({ type: 'button' as const, text })) }),
    ...(reply !== undefined && { hasReply: true, replyPlaceholder: reply }),
  })
  shown.set(notice.tag, notification)
  const forget = () => {
    if (shown.get(notice.tag) === notification) shown.delete(notice.tag)
  }
  notification.on('close', forget)
  const respond = (response: NoticeResponse) => {
    forget()
    onResponse(response)
  }
  notification.on('click', () => respond({ kind: 'clicked' }))
  notification.on('action', ({ actionIndex }) => respond({ kind: 'action', index: actionIndex }))
  notification.on('reply', ({ reply: text }) => respond({ kind: 'reply', text }))
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
