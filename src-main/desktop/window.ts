import { BrowserWindow, nativeTheme, screen, session, shell, type WebContents } from 'electron'
import { appOrigin } from './app-protocol.ts'
import { placeWindow } from './place-window.ts'
import { isAppUrl, isWebUrl } from './trusted-sender.ts'
import { loadWindowState, saveWindowState, smallestWindow } from './window-state.ts'

/** Options of a window. */
export interface WindowOptions {
  readonly preload: string
  readonly stateFile: string
  readonly icon: string
  /** Open without showing, because the program started with the system. */
  readonly hidden: boolean
  /** Returns whether the window may close now; otherwise hides it or asks. */
  mayClose(): boolean
  /** Called when the system ends the user's session. */
  onSessionEnd(): void
}

/** Background of the page per theme, shown until the page has loaded. */
const ground = { light: '#f4f5f2', dark: '#131412' } as const

/** Opens the app's window with the size and position of `stateFile`; it loads only the app's page. */
export async function openWindow(options: WindowOptions): Promise<void> {
  const { maximized, ...bounds } = placeWindow(loadWindowState(options.stateFile), workAreas())
  const window = new BrowserWindow({
    ...bounds,
    minWidth: smallestWindow.width,
    minHeight: smallestWindow.height,
    show: false,
    title: 'Copse',
    icon: options.icon,
    backgroundColor: nativeTheme.shouldUseDarkColors ? ground.dark : ground.light,
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
  window.once('ready-to-show', () => {
    if (options.hidden) return
    if (maximized) window.maximize()
    else window.show()
  })
  window.on('close', (event) => {
    saveWindowState(options.stateFile, { ...window.getNormalBounds(), maximized: window.isMaximized() })
    if (!options.mayClose()) event.preventDefault()
  })
  window.on('query-session-end', options.onSessionEnd)
  keepInside(window.webContents)
  await window.loadURL(appOrigin.url)
}

/** Returns the displays' areas that are free for windows, the main display's first. */
function workAreas() {
  const main = screen.getPrimaryDisplay()
  const others = screen.getAllDisplays().filter(({ id }) => id !== main.id)
  return [main, ...others].map(({ workArea }) => workArea)
}

/** Hides the windows; their pages keep running. */
export function hideWindows(): void {
  for (const window of BrowserWindow.getAllWindows()) window.hide()
}

/** Brings the window forward when the program is started a second time. */
export function showWindow(): void {
  const window = BrowserWindow.getAllWindows()[0]
  if (!window) return
  if (window.isMinimized()) window.restore()
  window.show()
  window.focus()
}

/** Denies all permissions: the app needs no camera, location or web notifications. */
export function denyPermissions(): void {
  session.defaultSession.setPermissionRequestHandler((_contents, _permission, answer) => answer(false))
  session.defaultSession.setPermissionCheckHandler(() => false)
}

/** Opens external links in the user's browser; the window never leaves the app. */
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
