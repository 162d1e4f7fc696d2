import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { chromiumArgs, ensureChromium } from '../../../helpers/browser.ts'
import { quickFork } from '../../../helpers/built.ts'
import { keepRecord, startRecording } from '../../../helpers/record-pages.ts'
import type { DesktopAct, DesktopAnswer, DesktopCall } from './protocol-to-parent.ts'

const root = join(import.meta.dirname, '..', '..', '..', '..')

/** The built desktop app with its window open. */
export interface Desktop extends AsyncDisposable {
  readonly page: Page
  readonly dataDir: string
  readonly pid: number
  /** The app's requests to the desktop so far. */
  readonly calls: readonly DesktopCall[]
  /** Resolves to the first call of that name, past or future. */
  called(name: string): Promise<DesktopCall>
  /** Sets the answer to calls of that name. */
  answer(name: string, answer: unknown): void
  /** Clicks an item of the menus or the tray. */
  click(item: string): void
  /** Clicks the window's close button. */
  closeWindow(): void
  /** Starts the program again, as the system does for a link; resolves when the second has ended. */
  startAgain(...args: readonly string[]): Promise<number | null>
  log(): string
  /** Resolves to the exit code when the app has ended by itself. */
  readonly exited: Promise<number | null>
  /** Asks the app to quit, as the system does at shutdown. */
  quit(): Promise<number | null>
}

export interface DesktopOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly args?: readonly string[]
  /** The program to start; the built app by default. */
  readonly entry?: string
}

/** Starts Chromium and the built app; waits for the app's window. */
export async function startDesktop(options: DesktopOptions = {}): Promise<Desktop> {
  const folder = await mkdtemp(join(tmpdir(), 'copse-desktop-'))
  const profile = join(folder, 'profile')
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: await ensureChromium(),
    headless: true,
    viewport: { width: 1440, height: 900 },
    args: [...chromiumArgs, '--remote-debugging-port=0'],
  })
  const port = (await readFile(join(profile, 'DevToolsActivePort'), 'utf8')).split('\n')[0]
  const dataDir = options.env?.['SVC_DATA_DIR'] ?? join(folder, 'data')
  const env = { ...options.env, SVC_DATA_DIR: dataDir, COPSE_STANDIN_CHROMIUM: `http://127.0.0.1:${port}` }
  const entry = options.entry ?? join(root, 'dist', 'main', 'electron.js')
  const app = startMain(entry, env, options.args)
  const opened = context.waitForEvent('page', { timeout: 80_000 })
  const page = await Promise.race([
    opened,
    app.exited.then((code) => {
      throw new Error(`The app ended (${code}) before its window opened: ${app.log()}`)
    }),
  ])
  await startRecording(page)
  return {
    ...app,
    page,
    dataDir,
    startAgain: (...args) => startMain(entry, env, args).exited,
    [Symbol.asyncDispose]: async () => {
      await keepRecord(page)
      await app.quit()
      await context.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

type Main = Omit<Desktop, 'page' | 'dataDir' | 'startAgain' | typeof Symbol.asyncDispose>

function startMain(entry: string, env: Readonly<Record<string, string>>, more: readonly string[] = []): Main {
  const args = ['--import', join(import.meta.dirname, 'register.ts'), entry, ...more]
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...quickFork, SVC_BCRYPT_COST: '4', SVC_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let log = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (log += text))
  const calls: DesktopCall[] = []
  const waiting = new Map<string, (call: DesktopCall) => void>()
  child.on('message', (call: DesktopCall) => {
    calls.push(call)
    waiting.get(call.name)?.(call)
    waiting.delete(call.name)
  })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  return {
    pid: child.pid ?? 0,
    calls,
    called: (name) =>
      new Promise((resolve) => {
        const made = calls.find((call) => call.name === name)
        if (made) resolve(made)
        else waiting.set(name, resolve)
      }),
    answer: (name, answer) => void child.send({ name, answer } satisfies DesktopAnswer),
    click: (item) => void child.send({ act: 'click', item } satisfies DesktopAct),
    closeWindow: () => void child.send({ act: 'close' } satisfies DesktopAct),
    log: () => log,
    exited,
    quit: () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      return exited
    },
  }
}
