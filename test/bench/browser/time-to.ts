import type { BenchPage } from './board-page.ts'

/** When, in ms since the navigation began, a page showed something, and when it was what it is to be. */
export interface PageTimes {
  readonly painted: number
  readonly interactive: number
}

/**
 * Opens the address and waits until `ready`, an expression of the page, holds and the page has drawn it and is free
 * to answer to a click. Both times are the browser's own, from the page's timeline: of a process that is just starting
 * a trace may miss the beginning.
 */
export async function timeTo({ page }: BenchPage, url: string, ready: string): Promise<PageTimes> {
  await page.addInitScript({ content: markWhen(ready) })
  await page.goto(url)
  return await page.evaluate<PageTimes>(times)
}

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

/** Once both have been: an empty page is there before it is painted. */
const times = `new Promise((done) => {
  const seen = new PerformanceObserver(() => {
    const at = (name) => performance.getEntriesByName(name)[0]?.startTime
    const [painted, interactive] = [at('first-paint'), at('interactive')]
    if (painted !== undefined && interactive !== undefined) done({ painted, interactive })
  })
  seen.observe({ type: 'mark', buffered: true })
  seen.observe({ type: 'paint', buffered: true })
})`
