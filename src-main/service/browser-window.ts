import { spawn } from 'node:child_process'

/** Flags for Chromium as a plain window: no updates, no sync, no prompts, no background requests. */
const quiet = [
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--window-size=1440,900',
]

/** How long a browser takes to exit if it can't open its window or hands it to a running one. */
const startMs = 3_000

export interface BrowserWindow extends Disposable {
  /** How the window ended: `closed` by the person, `failed` to open, or `handed_over` to a browser that was running. */
  readonly ended: Promise<'closed' | 'failed' | 'handed_over'>
}

/** Opens `url` in its own window with its own profile; disposing closes it. */
export function openBrowserWindow(options: {
  readonly browser: string
  readonly url: string
  readonly profileDir: string
}): BrowserWindow {
  const since = performance.now()
  const args = [`--app=${options.url}`, `--user-data-dir=${options.profileDir}`, ...quiet]
  // Chromium refuses to run its sandbox as root.
  if (process.getuid?.() === 0) args.push('--no-sandbox')
  const child = spawn(options.browser, args, { stdio: 'ignore' })
  const ended = new Promise<'closed' | 'failed' | 'handed_over'>((resolve) => {
    child.once('error', () => resolve('failed'))
    child.once('exit', (code) => {
      if (performance.now() - since > startMs) resolve('closed')
      else resolve(code === 0 ? 'handed_over' : 'failed')
    })
  })
  return { ended, [Symbol.dispose]: () => void child.kill() }
}
