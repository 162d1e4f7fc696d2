import { BrowserWindow, dialog, nativeTheme, screen, session, shell } from 'electron'
import { escapeHidden } from '../../src-shared/lang/hidden-characters.ts'
import { appOrigin } from './app-origin.ts'
import { createExternalLinks } from './external-links.ts'
import { keepInside } from './keep-inside.ts'
import { placeWindow } from './place-window.ts'
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
  const openLink = createExternalLinks({
    ask: (address) => askLink(window, address),
    open: (address) => shell.openExternal(address),
  })
  keepInside(window.webContents, openLink)
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

/** Asks before an address of this machine or network opens. */
async function askLink(window: BrowserWindow, address: string): Promise<boolean> {
  const { response } = await dialog.showMessageBox(window, {
    type: 'question',
    message: 'Open a link to this machine or network?',
    detail: `${escapeHidden(address).slice(0, 500)}\n\nOnly open addresses that you know.`,
    buttons: ['Open link', 'Cancel'],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  })
  return response === 0
}
