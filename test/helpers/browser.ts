import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium, type Browser } from 'playwright-core'
import { findOnPath } from '../../src-main/platform/process/find-on-path.ts'
import { findBrowser } from '../../src-main/service/find-browser.ts'
import { recordPages } from './record-pages.ts'

const run = promisify(execFile)

/** Playwright's own list of disabled features, because Chromium uses only the last list. */
const byPlaywright = [
  'AimEnabled',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'TcpPortRandomizationWin',
  'ThirdPartyStoragePartitioning',
]
/** Two pages of the address bar, invisible here, take as long as the page itself in every new context. */
const addressBar = ['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup']

/** Chromium without features that use the network. */
export const chromiumArgs: readonly string[] = [
  `--disable-features=${[...byPlaywright, ...addressBar].join(',')}`,
  '--disable-gpu',
  '--force-prefers-reduced-motion',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Chromium refuses its sandbox to root.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
]

/** Chromium without invisible windows: the same pages for a seventh less work. */
const shell = 'chromium-headless-shell'

/** The Chromium of this machine, or Playwright's own; null if neither is installed. */
export function findChromium(): string | null {
  const playwrights = chromium.executablePath()
  const withoutWindows = process.env['COPSE_CHROMIUM'] ? null : findOnPath(shell)
  return withoutWindows ?? findBrowser(process.env, process.platform) ?? (existsSync(playwrights) ? playwrights : null)
}

/**
 * Installs a Chromium if there is none: through apt if that is possible, else by Playwright's own download. Throws
 * one line that says what to install if neither works.
 */
export async function ensureChromium(): Promise<string> {
  const found = findChromium()
  if (found !== null) return found
  const tried: string[] = []
  for (const install of [installByApt, installByPlaywright]) {
    const result = await install()
    if (result !== null) tried.push(result)
    const installed = findChromium()
    if (installed !== null) return installed
  }
  throw new Error(
    `The end-to-end tests need Chromium: install it (Debian: sudo apt-get install ${shell}) or set COPSE_CHROMIUM to one. Tried: ${tried.join('; ')}.`,
  )
}

/** A Chromium of its own, or contexts of its own in the one that the whole run shares. */
export async function launchChromium(): Promise<Browser> {
  const shared = process.env[sharedAt]
  if (shared !== undefined) return recordPages(await chromium.connect(shared))
  return recordPages(await chromium.launch(await launchOptions()))
}

/**
 * Makes every `launchChromium` of this process and its children share one Chromium until `close`, because a launch
 * takes most of a second.
 */
export async function shareChromium(): Promise<{ readonly close: () => Promise<void> }> {
  const options = await launchOptions()
  const server = await chromium.launchServer({ ...options, args: [...options.args, shortLived] })
  process.env[sharedAt] = server.wsEndpoint()
  return server
}

/** A test's page is closed before optimizing its scripts would pay off. */
const shortLived = '--js-flags=--no-opt --no-maglev --single-threaded-gc'

const sharedAt = 'COPSE_TEST_BROWSER_AT'

async function launchOptions() {
  return { executablePath: await ensureChromium(), headless: true, args: [...chromiumArgs] }
}

/** null if it worked or does not concern this system, else the reason of the failure. */
async function installByApt(): Promise<string | null> {
  if (!existsSync('/usr/bin/apt-get')) return null
  const prefix = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  process.stderr.write('copse: installing Chromium for the tests with apt-get (once) …\n')
  const apt = async (...args: string[]) => {
    const [program = 'apt-get', ...rest] = [...prefix, 'apt-get', ...args]
    await run(program, rest, { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, maxBuffer: 64_000_000 })
  }
  return attempt('apt-get', async () => {
    await apt('update', '-q')
    await apt('install', '-y', '-q', '--no-install-recommends', shell)
  })
}

async function installByPlaywright(): Promise<string | null> {
  process.stderr.write('copse: fetching Playwright’s Chromium for the tests (once) …\n')
  const cli = join(import.meta.dirname, '..', '..', 'node_modules', 'playwright-core', 'cli.js')
  return attempt('playwright install', async () => {
    await run(process.execPath, [cli, 'install', 'chromium'], { maxBuffer: 64_000_000, timeout: 300_000 })
  })
}

async function attempt(name: string, work: () => Promise<void>): Promise<string | null> {
  try {
    await work()
    return null
  } catch (error) {
    const lines = error instanceof Error ? error.message.trim().split('\n') : [String(error)]
    return `${name} (${lines.at(-1) ?? 'failed'})`
  }
}
