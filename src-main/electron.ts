import { app, BrowserWindow, dialog, nativeTheme, powerMonitor, safeStorage, shell } from 'electron'
import { join } from 'node:path'
import type { CallContext } from './api/api.ts'
import { installCrashHandler } from './platform/logging/crash-handler.ts'
import { createErrorText } from './platform/text/error-text.ts'
import { createLogger } from './platform/logging/log.ts'
import { defaultDataDir, findResources } from './platform/config/paths.ts'
import { registerAppScheme, serveApp } from './desktop/app-protocol.ts'
import { createAutoStart, hiddenArgument } from './desktop/auto-start.ts'
import { linkAmong, linkScheme, readDeepLink } from './desktop/deep-link.ts'
import { openDesktopSettings } from './desktop/desktop-settings.ts'
import { findFolderTools, openAtLine, openInTool, type LinkOpener } from './desktop/folder-tools.ts'
import { registerWindowIpc } from './desktop/ipc.ts'
import type { QuitGuard } from './desktop/quit-guard.ts'
import { pictures, startDesktopIntegration } from './desktop/desktop-integration.ts'
import { setBadge, showNotice } from './desktop/notices.ts'
import { createPageRequests } from './desktop/page-requests.ts'
import { createSecretSeal } from './desktop/secret-seal.ts'
import { findUpdater } from './desktop/updater.ts'
import { denyPermissions, openWindow, showWindow } from './desktop/window.ts'
import { WorkspaceError } from './ports/workspace-error.ts'
import { startHelper } from './desktop/start-helper.ts'
import { startService, StartRefused, type Service } from './service/start-service.ts'
import { orNull } from './git/files/file-errors.ts'
import { pathInside } from './git/files/path-guard.ts'

const program = findResources(import.meta.dirname)
const icons = join(program.root, 'assets')
const requests = createPageRequests()
/** Brings the window forward. Once the first window was opened, also opens one if there is none. */
let show = showWindow

installCrashHandler((text) => {
  if (app.isReady())
    dialog.showErrorBox('Copse needs to close', `${text}\n\nStart it again. Everything saved is still there.`)
})
app.setName('Copse')
app.setAppUserModelId('dev.copse.app')
// Electron's files and its single-instance lock belong in the data folder of this start.
app.setPath('userData', join(process.env['SVC_DATA_DIR'] || defaultDataDir(process.env, process.platform), 'desktop'))
registerAppScheme()

if (app.requestSingleInstanceLock()) {
  app.on('second-instance', (_event, args) => openLink(linkAmong(args)))
  app.on('open-url', (event, link) => {
    event.preventDefault()
    openLink(link)
  })
  // Windows registers links at run time; on macOS and Linux the package registers them.
  if (app.isPackaged && process.platform === 'win32')
    app.setAsDefaultProtocolClient(linkScheme, process.execPath, ['--'])
  run().catch(fail)
} else {
  app.quit()
}

async function run(): Promise<void> {
  await app.whenReady()
  const { webRoot } = program
  if (webRoot === null) throw new StartRefused('The window has not been built: run npm run build.', 1)
  const seal = createSecretSeal(safeStorage, process.platform)
  const env = { SVC_LOG_LEVEL: 'warn', ...process.env }
  const service = await startService({ program, env, anyPort: true, startedAs: 'desktop', seal, startHelper })
  const log = createLogger({ level: service.config.logLevel }).child({ module: 'desktop' })
  const onBug = (error: unknown) => log.error({ err: error }, 'a call from the window failed')
  const context = (signal: AbortSignal): CallContext => ({
    principal: service.app.identity.localPrincipal(),
    signal,
    remote_address: null,
  })
  const settings = openDesktopSettings(join(service.config.dataDir, 'desktop.json'))
  nativeTheme.themeSource = settings.get().theme
  const door = openDoor(service, onBug)
  const drain = createDrain(async () => {
    integration[Symbol.dispose]()
    door[Symbol.dispose]()
    await service[Symbol.asyncDispose]()
  })
  const integration = startDesktopIntegration({
    api: service.app.api,
    context,
    settings,
    requests,
    updater: findUpdater(() => {
      integration.allowQuit()
      return drain.run()
    }),
    autoStart: autoStart(),
    icons,
    licencesFile: app.isPackaged ? join(process.resourcesPath, 'licences.txt') : join(program.root, 'LICENSE'),
    show: () => show(),
    onBug,
  })
  quitWith(integration, drain)
  denyPermissions()
  serveApp(webRoot)
  await openFirstWindow(service, integration)
}

async function openFirstWindow(service: Service, integration: QuitGuard): Promise<void> {
  const window = {
    preload: join(import.meta.dirname, 'preload.cjs'),
    stateFile: join(service.config.dataDir, 'window.json'),
    icon: pictures(icons).window,
    mayClose: integration.mayClose,
    onSessionEnd: integration.allowQuit,
  }
  show = () => {
    if (BrowserWindow.getAllWindows().length > 0) showWindow()
    else openWindow({ ...window, hidden: false }).catch(fail)
  }
  app.on('activate', () => show())
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit()
  })
  const link = linkAmong(process.argv.slice(1))
  if (link !== null) ask(link)
  await openWindow({ ...window, hidden: link === null && startedWithSystem() })
}

/** Opens a link; with `null` only brings the window forward. */
function openLink(link: string | null): void {
  if (link !== null) ask(link)
  show()
}

function ask(link: string): void {
  const asked = readDeepLink(link)
  if (asked.kind === 'task') requests.ask({ kind: 'open_task', task_id: asked.task_id })
  else {
    const message = "Copse can't open this link. A task link is copse://task/ and the full ID."
    requests.ask({ kind: 'refused', message })
  }
}

function startedWithSystem(): boolean {
  return process.argv.includes(hiddenArgument) || app.getLoginItemSettings().wasOpenedAtLogin
}

function autoStart() {
  if (!app.isPackaged) return null
  const file = join(app.getPath('appData'), 'autostart', 'copse.desktop')
  // An AppImage runs from a temporary mount, so the login item must start the AppImage itself.
  return createAutoStart(process.platform, app, { file, program: process.env['APPIMAGE'] ?? process.execPath })
}

function openDoor(service: Service, onBug: (error: unknown) => void): Disposable {
  const links: LinkOpener = {
    handlerOf: (link) => app.getApplicationNameForProtocol(link),
    open: (link) => shell.openExternal(link),
  }
  return registerWindowIpc({
    api: service.app.api,
    localPrincipal: () => service.app.identity.localPrincipal(),
    pickFolder: async (contents) => {
      const window = BrowserWindow.fromWebContents(contents)
      const choice = { properties: ['openDirectory' as const], title: 'Choose a git repository' }
      const { filePaths } = await (window ? dialog.showOpenDialog(window, choice) : dialog.showOpenDialog(choice))
      return filePaths[0] ?? null
    },
    showFolder: (path) => shell.showItemInFolder(path),
    folderTools: () => findFolderTools(links),
    openFolder: (tool, path) => openInTool(tool, path, links),
    openFile: async (tool, worktree, path, line) => {
      try {
        const file = await orNull(pathInside(worktree, path))
        return file !== null && (await openAtLine(tool, file, line, links))
      } catch (error) {
        if (error instanceof WorkspaceError) return false
        throw error
      }
    },
    notify: (notice, onResponse) =>
      showNotice(notice, (response) => {
        if (response.kind === 'clicked') show()
        onResponse(response)
      }),
    setBadge: (count) => setBadge(count, pictures(icons).dot),
    onBug,
  })
}

/** Asks before agents are stopped; the process quits after they ended and their last output is saved. */
function quitWith(leaving: QuitGuard, drain: Drain): void {
  app.on('before-quit', (event) => {
    if (!leaving.mayQuit()) event.preventDefault()
  })
  app.on('will-quit', (event) => {
    if (drain.isDone()) return
    event.preventDefault()
    drain.run().then(() => app.quit(), fail)
  })
  const end = () => {
    leaving.allowQuit()
    app.quit()
  }
  powerMonitor.on('shutdown', end)
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
}

interface Drain {
  run(): Promise<void>
  isDone(): boolean
}

/** Returns a drain that runs once, however many callers ask for it. */
function createDrain(work: () => Promise<void>): Drain {
  let running: Promise<void> | null = null
  let done = false
  return { run: () => (running ??= work().finally(() => (done = true))), isDone: () => done }
}

function fail(error: unknown): void {
  const refused = error instanceof StartRefused
  const message = refused ? error.message : createErrorText(process.env)(error)
  process.stderr.write(`copse: ${message}\n`)
  if (app.isReady()) dialog.showErrorBox('Copse cannot start', message)
  app.exit(refused ? error.exitCode : 1)
}
