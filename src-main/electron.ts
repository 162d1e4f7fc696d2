import { app, BrowserWindow, dialog, safeStorage, shell } from 'electron'
import { join } from 'node:path'
import { createLogger } from './base/log.ts'
import { defaultDataDir, findResources } from './base/paths.ts'
import { registerAppScheme, serveApp } from './desktop/app-protocol.ts'
import { findFolderTools, openInTool, type LinkOpener } from './desktop/folder-tools.ts'
import { openWindowDoor } from './desktop/ipc.ts'
import { setMenu } from './desktop/menu.ts'
import { setBadge, showNotice } from './desktop/notices.ts'
import { createSecretSeal } from './desktop/secret-seal.ts'
import { denyPermissions, openWindow, showWindow } from './desktop/window.ts'
import { startService, StartRefused, type Service } from './service/start-service.ts'

const program = findResources(import.meta.dirname)

app.setName('Copse')
// Electron's own files and its single-instance lock belong to the data folder that this start is for.
app.setPath('userData', join(process.env['SVC_DATA_DIR'] || defaultDataDir(process.env, process.platform), 'desktop'))
registerAppScheme()

if (app.requestSingleInstanceLock()) {
  app.on('second-instance', showWindow)
  run().catch(fail)
} else {
  app.quit()
}

async function run(): Promise<void> {
  await app.whenReady()
  const { webRoot } = program
  if (webRoot === null) throw new StartRefused('The window has not been built: run npm run build.', 1)
  const seal = createSecretSeal(safeStorage, process.platform)
  const service = await startService({ program, env: { SVC_LOG_LEVEL: 'warn', ...process.env }, anyPort: true, seal })
  const door = openDoor(service)
  drainBeforeQuit(async () => {
    door[Symbol.dispose]()
    await service[Symbol.asyncDispose]()
  })
  setMenu({ platform: process.platform, developer: !app.isPackaged })
  denyPermissions()
  serveApp(webRoot)
  const window = {
    preload: join(import.meta.dirname, 'preload.cjs'),
    stateFile: join(service.config.dataDir, 'window.json'),
  }
  app.on('activate', () => {
    if (BrowserWindow.getAllWindows().length === 0) openWindow(window).catch(fail)
  })
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit()
  })
  await openWindow(window)
}

function openDoor(service: Service): Disposable {
  const log = createLogger({ level: service.config.logLevel }).child({ module: 'desktop' })
  const links: LinkOpener = {
    handlerOf: (link) => app.getApplicationNameForProtocol(link),
    open: (link) => shell.openExternal(link),
  }
  return openWindowDoor({
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
    notify: (notice, onClick) =>
      showNotice(notice, () => {
        showWindow()
        onClick()
      }),
    setBadge,
    onBug: (error) => log.error({ err: error }, 'a call from the window failed'),
  })
}

/** Running agents end and their last words are kept before the process does. */
function drainBeforeQuit(drain: () => Promise<void>): void {
  let state: 'open' | 'draining' | 'drained' = 'open'
  app.on('will-quit', (event) => {
    if (state === 'drained') return
    event.preventDefault()
    if (state === 'draining') return
    state = 'draining'
    drain().then(
      () => {
        state = 'drained'
        app.quit()
      },
      (error: unknown) => {
        state = 'drained'
        fail(error)
      },
    )
  })
  process.on('SIGTERM', () => app.quit())
  process.on('SIGINT', () => app.quit())
}

function fail(error: unknown): void {
  const refused = error instanceof StartRefused
  const message = refused ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`copse: ${message}\n`)
  if (app.isReady()) dialog.showErrorBox('Copse cannot start', message)
  app.exit(refused ? error.exitCode : 1)
}
