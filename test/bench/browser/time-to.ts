import type { Browser } from 'playwright-core'
import { traced } from './trace.ts'
import type { BenchPage } from './board-page.ts'

/** When, in ms since the navigation began, a page showed something, and when it was what it is to be. */
export interface PageTimes {
  readonly painted: number
  readonly interactive: number
}

/**
 * Opens the address and waits until `ready`, an expression of the page, holds and the page has drawn it and is free
 * to answer to a click. Both times are the browser's, from its trace.
 */
export async function timeTo(browser: Browser, { page }: BenchPage, url: string, ready: string): Promise<PageTimes> {
  await page.addInitScript({ content: markWhen(ready) })
  const events = await traced(browser, page, ['blink.user_timing', 'loading'], async () => {
    await page.goto(url)
    await page.evaluate(marked)
  })
  const began = events.findLast(({ name, args }) => name === 'navigationStart' && isPage(args?.data?.documentLoaderURL))
  const at = (wanted: string) => {
    const event = events.find(({ name, ts }) => name === wanted && ts > (began?.ts ?? Infinity))
    if (!began || !event) throw new Error(`The trace has no ${wanted}.`)
    return (event.ts - began.ts) / 1_000
  }
  return { painted: at('firstPaint'), interactive: at('interactive') }
}

const isPage = (url: string | undefined) => url?.startsWith('http') === true

/** A task of its own after the frame: whatever held the page up until then is over. */
const markWhen = (ready: string) => `{
  const look = () => {
    if (!(${ready})) return
    seen.disconnect()
    requestAnimationFrame(() => setTimeout(() => performance.mark('interactive')))
  }
  const seen = new MutationObserver(look)
  seen.observe(document, { subtree: true, childList: true, characterData: true, attributes: true })
}`

/** Both have been: an empty page is there before it is painted. */
const marked = `new Promise((done) => {
  const seen = new PerformanceObserver(() => {
    const has = (name) => performance.getEntriesByName(name).length > 0
    if (has('interactive') && has('first-paint')) done(null)
  })
  seen.observe({ type: 'mark', buffered: true })
  seen.observe({ type: 'paint', buffered: true })
})`
