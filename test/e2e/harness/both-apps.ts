import type { Page } from 'playwright-core'
import { createClient, type Client } from '../../../src-shared/client/create-client.ts'
import { launchChromium } from '../../helpers/browser.ts'
import { startBuiltService } from './built-service.ts'
import { startDesktop } from './electron-standin/start-desktop.ts'
import { openLocally } from './local-page.ts'

/** The open app, in the browser or in its window, and a client that acts as the same person. */
export interface OpenApp extends AsyncDisposable {
  readonly page: Page
  readonly client: Client
}

export const apps = ['web', 'desktop'] as const
export type AppKind = (typeof apps)[number]

/** Opens the built app. Every error of the page fails the test. */
export async function openApp(kind: AppKind): Promise<OpenApp> {
  await using open = new AsyncDisposableStack()
  const app = kind === 'web' ? await openWeb(open) : await openWindow(open)
  const owned = open.move()
  return { ...app, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function openWeb(open: AsyncDisposableStack) {
  const service = open.use(await startBuiltService({ as: 'local' }))
  const browser = open.use(await launchChromium())
  const { page, client } = await openLocally(
    await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce' }),
    service,
  )
  return { page, client }
}

async function openWindow(open: AsyncDisposableStack) {
  const { page } = open.use(await startDesktop())
  page.setDefaultTimeout(80_000)
  page.on('pageerror', (error) => {
    throw error
  })
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.locator('#app > *').first().waitFor()
  return { page, client: createClient({ call: (name, input) => callInside(page, name, input), stream: noStream }) }
}

/** Uses the window's own bridge. */
async function callInside(page: Page, name: string, input: unknown): Promise<unknown> {
  const ask = `window.copse.call(${JSON.stringify(name)}, ${JSON.stringify(input)})`
  const reply = await page.evaluate<{ ok: true; value: unknown } | { ok: false; error: unknown }>(ask)
  if (reply.ok) return reply.value
  throw new Error(`${name}: ${JSON.stringify(reply.error)}`)
}

function noStream(): never {
  throw new Error('The page listens to the events itself.')
}
