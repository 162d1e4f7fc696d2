import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContext, Page } from 'playwright-core'

/** Lets `record-reach.ts` know what the pages of a browser call, while a map is made. */
export function recordPages(browser: Browser): Browser {
  if (process.env['COPSE_REACH'] === undefined) return browser
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => recordContext(await newContext(options))
  browser.newPage = async (options) => {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    page.close = () => context.close()
    return page
  }
  const close = browser.close.bind(browser)
  browser.close = async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
    await close()
  }
  return browser
}

function recordContext(context: BrowserContext): BrowserContext {
  const newPage = context.newPage.bind(context)
  const close = context.close.bind(context)
  const pages: Page[] = []
  context.newPage = async () => {
    const page = await newPage()
    pages.push(page)
    await startRecording(page)
    return page
  }
  context.close = async (options) => {
    for (const page of pages.splice(0)) await keepRecord(page)
    await close(options)
  }
  return context
}

export async function startRecording(page: Page): Promise<void> {
  if (process.env['COPSE_REACH'] === undefined) return
  await page.coverage.startJSCoverage({ resetOnNavigation: false })
}

/** Leaves the record where the programs of the test file leave theirs. A page that is gone has none. */
export async function keepRecord(page: Page): Promise<void> {
  const folder = process.env['NODE_V8_COVERAGE']
  if (process.env['COPSE_REACH'] === undefined || folder === undefined || page.isClosed()) return
  try {
    const scripts = await page.coverage.stopJSCoverage()
    const result = scripts.map(({ url, functions }) => ({ url, functions }))
    writeFileSync(join(folder, `page-${randomUUID()}.json`), JSON.stringify({ result }))
  } catch (error) {
    if (!page.isClosed()) throw error
  }
}
