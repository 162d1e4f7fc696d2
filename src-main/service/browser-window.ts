import { spawn } from 'node:child_process'

/** Chromium as a plain window: no updates, no sync, no questions, nothing fetched in the background. */
const quiet = [
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--window-size=1440,900',
]

/** How long a browser that cannot open its window, or hands it to a running one, takes to end. */
const startMs = 3_000

export interface BrowserWindow extends Disposable {
  /** `closed`: by the person. `failed`: it never came up. `handed_over`: a browser that ran already shows it. */
  readonly ended: Promise<'closed' | 'failed' | 'handed_over'>
}

/** Opens `url` in a window of its own, with a profile of its own; disposing closes it. */
export function openBrowserWindow(options: {
  readonly browser: string
  readonly url: string
  readonly profileDir: string
}): BrowserWindow {
  const since = performance.now()
  const args = [`--app=${options.url}`, `--user-data-dir=${options.profileDir}`, ...quiet]
  // Chromium refuses its sandbox to root.
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
