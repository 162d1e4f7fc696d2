import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { openBrowserWindow } from './browser-window.ts'
import { findBrowser, hasDisplay } from './find-browser.ts'
import { never, type Presence } from './serve.ts'
import type { Service } from './start-service.ts'

/** Announces `svc serve`: one line on stdout, as JSON if asked for. Every client needs a token. */
export function announce(service: Service, json: boolean): Presence {
  const line = json
    ? JSON.stringify({ event: 'listening', url: service.url })
    : `Copse is running at ${service.url}. Data: ${service.config.dataDir}. Press Ctrl-C to stop.`
  process.stdout.write(`${line}\n`)
  const code = service.app.identity.setupCode()
  if (code !== null) process.stdout.write(`${json ? JSON.stringify({ event: 'setup_code', code }) : setupLine(code)}\n`)
  return { ended: never }
}

const setupLine = (code: string) =>
  `No one has an account yet. The first one needs this setup code, new at each start: ${code}`

/** Announces `npm start` without Electron: its own browser window if possible, else a sign-in link. */
export function presentLocally(service: Service, signal: AbortSignal, wantsWindow: boolean): Presence {
  const browser =
    wantsWindow && hasDisplay(process.env, process.platform) ? findBrowser(process.env, process.platform) : null
  if (browser === null) {
    printLinks(service, signal)
    return { ended: never }
  }
  const window = openBrowserWindow({
    browser,
    url: signedIn(service),
    profileDir: join(service.config.dataDir, 'window-profile'),
  })
  signal.addEventListener('abort', () => window[Symbol.dispose]())
  process.stdout.write(`Copse is open in its own window (${service.url}). Close it or press Ctrl-C to stop Copse.\n`)
  return { ended: windowEnd(window.ended, service, signal) }
}

async function windowEnd(
  ended: Promise<'closed' | 'failed' | 'handed_over'>,
  service: Service,
  signal: AbortSignal,
): Promise<void> {
  const how = await ended
  if (how === 'closed' || signal.aborted) return
  if (how === 'failed') process.stdout.write('The browser could not open its window.\n')
  printLinks(service, signal)
  await never
}

/** Prints a sign-in link. It works once and for two minutes, so Enter prints a new one. */
function printLinks(service: Service, signal: AbortSignal): void {
  const print = () => process.stdout.write(`Copse is running at ${signedIn(service)}\n`)
  print()
  if (!process.stdin.isTTY) {
    process.stdout.write('The link works once and expires in 2 minutes. Press Ctrl-C to stop.\n')
    return
  }
  process.stdout.write('The link works once and expires in 2 minutes. Press Enter for a new one, Ctrl-C to stop.\n')
  const lines = createInterface({ input: process.stdin })
  lines.on('line', print)
  signal.addEventListener('abort', () => lines.close())
}

/** Returns the sign-in URL. Its code is in the fragment, which no server or proxy sees. */
function signedIn(service: Service): string {
  return `${service.url}/#code=${service.app.identity.createLocalCode()}`
}
