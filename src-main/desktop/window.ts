import { BrowserWindow, nativeTheme, screen, session, shell, type WebContents } from 'electron'
import { appOrigin } from './app-protocol.ts'
import { placeWindow } from './place-window.ts'
import { isAppUrl, isWebUrl } from './trusted-sender.ts'
import { loadWindowState, saveWindowState, smallestWindow } from './window-state.ts'

/** What a window takes of the program. */
export interface WindowOptions {
  readonly preload: string
  readonly stateFile: string
  readonly icon: string
  /** Opened without being shown: the program was started with the system. */
  readonly hidden: boolean
  /** Whether it may close now; it is hidden or asks otherwise. */
  mayClose(): boolean
  /** The system ends the person's session. */
  onSessionEnd(): void
}

/** The ground of the page in either theme, for the moment before there is a page. */
const ground = { light: '#f4f5f2', dark: '#131412' } as const

/** Opens the app's window as it was when `stateFile` was written, showing nothing but the app's page. */
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

/** The parts of the displays that are free for windows, the main display's first. */
function workAreas() {
  const main = screen.getPrimaryDisplay()
  const others = screen.getAllDisplays().filter(({ id }) => id !== main.id)
  return [main, ...others].map(({ workArea }) => workArea)
}

/** Takes the windows away; their pages go on. */
export function hideWindows(): void {
  for (const window of BrowserWindow.getAllWindows()) window.hide()
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
