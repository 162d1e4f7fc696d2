import { app, dialog, nativeTheme, shell, Menu, nativeImage, Tray } from 'electron'
import { join } from 'node:path'
import type { Api, CallContext } from '../api/api.ts'
import type { DesktopChange, DesktopState } from '../../src-shared/contract/desktop.ts'
import { watchActivity, type Activity } from './activity.ts'
import type { AutoStart } from './auto-start.ts'
import type { DesktopSettingsFile } from './desktop-settings.ts'
import { createQuitGuard, type QuitGuard, type LeavingQuestion } from './quit-guard.ts'
import { registerDesktopIpc } from './desktop-ipc.ts'
import { type MenuParts, menuTemplate } from './menu-template.ts'
import type { PageRequests } from './page-requests.ts'
import { toPause, toResume, trayTemplate, trayTooltip, type TrayActions } from './tray-template.ts'
import { createUpdates, type Updater } from './updates.ts'
import { hideWindows } from './window.ts'

/** Dependencies on the program. */
export interface DesktopIntegrationOptions {
  readonly api: Api
  context(signal: AbortSignal): CallContext
  readonly settings: DesktopSettingsFile
  readonly requests: PageRequests
  readonly updater: Updater | 'not_installed' | 'no_feed'
  /** null if the system can't start the program. */
  readonly autoStart: AutoStart | null
  /** Folder of the program's images. */
  readonly icons: string
  readonly licencesFile: string
  /** Brings the window forward, or opens one. */
  show(): void
  onBug(error: unknown): void
}

const firstLookMs = 30_000
const nextLookMs = 6 * 60 * 60_000

/** Starts menu, tray, quit guard and updates. Disposing removes the listeners. */
export function startDesktopIntegration(options: DesktopIntegrationOptions): QuitGuard & Disposable {
  const { settings, requests, onBug } = options
  const open = new DisposableStack()
  const closing = new AbortController()
  open.defer(() => closing.abort())

  const call = (name: Parameters<Api['call']>[0], input: unknown) =>
    options.api.call(name, input, options.context(closing.signal))
  const activity = open.use(
    watchActivity({
      call: call as Parameters<typeof watchActivity>[0]['call'],
      events: (signal) => options.api.events({}, null, options.context(signal)),
      onChange: (now) => tray.show(now),
      onBug,
    }),
  )
  const leaving = createQuitGuard({
    platform: process.platform,
    atWork: () => activity.now().running,
    settings: settings.get,
    remember: (change) => {
      settings.change(change)
      door.tell()
    },
    ask,
    hide: hideWindows,
    quit: () => app.quit(),
  })
  const tray = openTray(options.icons, process.platform, {
    ...trayActions(options, call, () => activity.now()),
    quit: () => app.quit(),
  })
  tray.show(activity.now())

  const updates = open.use(
    createUpdates({
      updater: options.updater,
      channel: () => settings.get().updates,
      now: () => new Date(),
      regularly,
      onChange: () => door.tell(),
    }),
  )
  const state = (): DesktopState => {
    const { whenClosed, whenQuit, updates: channel } = settings.get()
    const autoStart = options.autoStart?.isOn() ?? null
    return { settings: { whenClosed, whenQuit, updates: channel }, autoStart, update: updates.state() }
  }
  const door = open.use(
    registerDesktopIpc({
      requests,
      state,
      change: ({ autoStart, ...change }: DesktopChange) => {
        if (autoStart !== undefined) options.autoStart?.set(autoStart)
        settings.change(change)
        if (change.updates !== undefined) void updates.channelChanged().catch(onBug)
      },
      update: updates.take,
      preferences: ({ theme, commands }) => {
        nativeTheme.themeSource = theme
        if (settings.get().theme !== theme) settings.change({ theme })
        setMenu({ ...menu, commands })
      },
    }),
  )
  const menu = menuParts(options)
  setMenu(menu)
  return { ...leaving, [Symbol.dispose]: () => open.dispose() }
}

function menuParts({ requests, show, licencesFile }: DesktopIntegrationOptions): MenuParts {
  const ask: MenuParts['ask'] = (request) => {
    show()
    requests.ask(request)
  }
  return {
    platform: process.platform,
    developer: !app.isPackaged,
    commands: [],
    ask,
    showLicences: () => void shell.openPath(licencesFile),
  }
}

function trayActions(
  { settings, requests, show, onBug }: DesktopIntegrationOptions,
  call: (name: 'projects.update', input: unknown) => Promise<unknown>,
  now: () => Parameters<typeof toPause>[0],
) {
  const setPaused = async (ids: readonly string[], paused: boolean): Promise<void> => {
    for (const project_id of ids) {
      await call('projects.update', { project_id, paused_at: paused ? new Date().toISOString() : null })
    }
  }
  return {
    show,
    newTask: () => {
      show()
      requests.ask({ kind: 'command', id: 'new' })
    },
    pause: () => {
      const ids = toPause(now())
      settings.change({ paused: ids })
      setPaused(ids, true).catch(onBug)
    },
    resume: () => {
      const ids = toResume(now(), settings.get().paused)
      settings.change({ paused: [] })
      setPaused(ids, false).catch(onBug)
    },
  }
}

async function ask({ message, detail, buttons, checkbox }: LeavingQuestion) {
  const { response, checkboxChecked } = await dialog.showMessageBox({
    type: 'question',
    message,
    detail,
    buttons: [...buttons],
    defaultId: 0,
    cancelId: buttons.length - 1,
    noLink: true,
    ...(checkbox !== null && { checkboxLabel: checkbox }),
  })
  return { button: response, checked: checkboxChecked }
}

function regularly(work: () => void): () => void {
  const first = setTimeout(work, firstLookMs)
  const next = setInterval(work, nextLookMs)
  return () => {
    clearTimeout(first)
    clearInterval(next)
  }
}

/** Returns the image paths of the window and the badge. */
export const pictures = (icons: string) => ({ window: join(icons, 'window.png'), dot: join(icons, 'badge.png') })

/** Sets the menus: application-wide on macOS, elsewhere of the window. */
function setMenu(parts: MenuParts): void {
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(parts)))
}

/** The tray icon. */
interface OpenTray {
  show(activity: Activity): void
}

/** Opens the tray icon with images from the folder `icons`. */
function openTray(icons: string, platform: NodeJS.Platform, actions: TrayActions): OpenTray {
  // macOS colours an image named …Template itself and expects one of double size beside it.
  const tray = new Tray(
    nativeImage.createFromPath(join(icons, platform === 'darwin' ? 'trayTemplate.png' : 'tray.png')),
  )
  // On other systems a click opens the menu.
  if (platform === 'win32') tray.on('click', actions.show)
  return {
    show: (activity) => {
      tray.setToolTip(trayTooltip(activity))
      if (platform === 'darwin') tray.setTitle(activity.running === 0 ? '' : String(activity.running))
      tray.setContextMenu(Menu.buildFromTemplate(trayTemplate(activity, actions)))
    },
  }
}
