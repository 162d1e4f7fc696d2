import { chromium, type BrowserContext, type CDPSession, type Page } from 'playwright-core'

let context: Promise<BrowserContext> | null = null
const own = new Set<Page>()

/** The Chromium that the test has started for this app. */
export function connect(): Promise<BrowserContext> {
  const endpoint = process.env['COPSE_STANDIN_CHROMIUM'] ?? ''
  context ??= chromium.connectOverCDP(endpoint).then((browser) => {
    const [first] = browser.contexts()
    if (!first) throw new Error('Chromium has no default context.')
    return first
  })
  return context
}

/** Opens a page for a new window. */
export async function openPage(): Promise<{ readonly page: Page; readonly cdp: CDPSession }> {
  const browser = await connect()
  const page = await browser.newPage()
  own.add(page)
  return { page, cdp: await browser.newCDPSession(page) }
}

/** Closes pages that no window requested, because its window-open handler denied them. */
export async function closeForeignPages(): Promise<void> {
  const browser = await connect()
  browser.on('page', (page) => {
    void page.opener().then((opener) => {
      if (opener !== null && !own.has(page)) return page.close()
      return undefined
    })
  })
}
