import type { Browser, CDPSession, Page } from 'playwright-core'
import { launchChromium } from '../../helpers/browser.ts'
import type { Product } from '../product.ts'

/** A window of Chromium as large as most people's, with the browser's own measuring instruments. */
export interface BenchPage extends AsyncDisposable {
  readonly page: Page
  readonly cdp: CDPSession
}

export const windowSize = { width: 1440, height: 900 }

export const openBrowser = (): Promise<Browser> => launchChromium()

/** A page with no caches and nothing kept; what goes wrong in it ends the row. */
export async function openPage(browser: Browser): Promise<BenchPage> {
  const context = await browser.newContext({ viewport: windowSize })
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  page.on('pageerror', (error) => {
    throw error
  })
  const cdp = await context.newCDPSession(page)
  return { page, cdp, [Symbol.asyncDispose]: () => context.close() }
}

/** Lets the page in as whoever the product's token says. */
export async function signIn({ page }: BenchPage, { token }: Product): Promise<void> {
  const kept = JSON.stringify({ token, endsAt: Date.now() + 24 * 60 * 60 * 1_000 })
  await page.addInitScript({ content: `sessionStorage.setItem('copse.local-token', ${JSON.stringify(kept)})` })
}
