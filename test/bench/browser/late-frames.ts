import type { Browser } from 'playwright-core'
import type { BenchPage } from './board-page.ts'
import { traced } from './trace.ts'

/** A frame that comes later than this after the one before is seen: two of 60 a second. */
const lateAfterMs = 32
const frameCategory = 'disabled-by-default-devtools.timeline.frame'
const markCategory = 'blink.user_timing'
const [begins, ends] = ['scroll begins', 'scroll ends']

export interface Frames {
  readonly all: number
  readonly late: number
  readonly longestMs: number
}

/**
 * Counts the frames that the page's main thread began during `work`, by the browser's trace, and if `work` scrolls,
 * during its scrolls. The page asks for every frame, so that one that does not come is one that something held up.
 */
export async function countFrames(browser: Browser, { page }: BenchPage, work: () => Promise<void>): Promise<Frames> {
  const events = await traced(browser, page, [frameCategory, markCategory], async () => {
    await page.evaluate(askForFrames)
    await work()
    await page.evaluate('globalThis.stopFrames()')
  })
  const begun = events.filter(({ name }) => name === 'BeginMainThreadFrame')
  const timesOf = (mark: string) => events.filter(({ name }) => name === mark).map(({ ts }) => ts)
  const [starts, stops] = [timesOf(begins), timesOf(ends)]
  const isCounted = (at: number) =>
    starts.length === 0 || starts.some((start, nth) => at > start && at <= (stops[nth] ?? Infinity))
  const waits = begun
    .slice(1)
    .map(({ ts }, index) => ({ ts, wait: (ts - (begun[index]?.ts ?? ts)) / 1_000 }))
    .filter(({ ts }) => isCounted(ts))
    .map(({ wait }) => wait)
  return {
    all: waits.length + 1,
    late: waits.filter((wait) => wait > lateAfterMs).length,
    longestMs: Math.max(0, ...waits),
  }
}

const askForFrames = `{
  let going = true
  const next = () => going && requestAnimationFrame(next)
  next()
  globalThis.stopFrames = () => (going = false)
}`

export interface Place {
  readonly x: number
  readonly y: number
}

/** Scrolls what is at the place by the browser's own gesture, as with a wheel, as fast as somebody who skims. */
export async function scroll({ cdp, page }: BenchPage, place: Place, pixels: number): Promise<void> {
  await page.evaluate(`void performance.mark('${begins}')`)
  await cdp.send('Input.synthesizeScrollGesture', {
    ...place,
    yDistance: -pixels,
    speed: 4_000,
    gestureSourceType: 'mouse',
    preventFling: true,
  })
  await page.evaluate(`void performance.mark('${ends}')`)
}

/** Takes what is at the place with the mouse and moves it to and fro, sixty times a second at most. */
export async function drag({ page }: BenchPage, from: Place, to: Place, seconds: number): Promise<void> {
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  const since = performance.now()
  while (performance.now() - since < seconds * 1_000) {
    const way = (1 - Math.cos(((performance.now() - since) / 1_000) * Math.PI)) / 2
    await page.mouse.move(from.x + (to.x - from.x) * way, from.y + (to.y - from.y) * way)
    await new Promise((done) => setTimeout(done, 1_000 / 60))
  }
  await page.mouse.move(from.x, from.y)
  await page.keyboard.press('Escape')
  await page.mouse.up()
}
