import { BrowserWindow, session, shell, type WebContents } from 'electron'
import { appOrigin } from './app-protocol.ts'
import { isAppUrl, isWebUrl } from './trusted-sender.ts'
import { loadWindowState, saveWindowState, smallestWindow } from './window-state.ts'

/** Opens the app's window as it was when `stateFile` was written, showing nothing but the app's page. */
export async function openWindow(options: { readonly preload: string; readonly stateFile: string }): Promise<void> {
  const { maximized, ...bounds } = loadWindowState(options.stateFile)
  const window = new BrowserWindow({
    ...bounds,
    minWidth: smallestWindow.width,
    minHeight: smallestWindow.height,
    show: false,
    title: 'Copse',
    webPreferences: {
      preload: options.preload,
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      webviewTag: false,
      spellcheck: true,
    },
  })
  window.once('ready-to-show', () => (maximized ? window.maximize() : window.show()))
  window.on('close', () => {
    saveWindowState(options.stateFile, { ...window.getNormalBounds(), maximized: window.isMaximized() })
  })
  keepInside(window.webContents)
  await window.loadURL(appOrigin.url)
}

/** Brings the window forward, for a second start of the program. */
export function showWindow(): void {
  const window = BrowserWindow.getAllWindows()[0]
  if (!window) return
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
}

/** The app needs no camera, place or notification of the page's own: nothing is granted. */
export function denyPermissions(): void {
  session.defaultSession.setPermissionRequestHandler((_contents, _permission, answer) => answer(false))
  session.defaultSession.setPermissionCheckHandler(() => false)
}

/** Links out open in the person's browser; the window itself never leaves the app. */
function keepInside(contents: WebContents): void {
  contents.setWindowOpenHandler(({ url }) => {
    if (isWebUrl(url)) void shell.openExternal(url)
    return { action: 'deny' }
  })
  contents.on('will-navigate', (details) => {
    if (isAppUrl(details.url)) return
    details.preventDefault()
    if (isWebUrl(details.url)) void shell.openExternal(details.url)
  })
  contents.on('will-attach-webview', (event) => event.preventDefault())
}
