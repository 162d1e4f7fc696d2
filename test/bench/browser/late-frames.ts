import type { Browser } from 'playwright-core'
import type { BenchPage } from './board-page.ts'
import { traced, type TraceEvent } from './trace.ts'

/** A frame that comes later than this after the one before is seen: two of 60 a second. */
const lateAfterMs = 32
const frameCategory = 'disabled-by-default-devtools.timeline.frame'
const markCategory = 'blink.user_timing'
const pictureCategory = 'disabled-by-default-devtools.screenshot'
const [begins, ends] = ['scroll begins', 'scroll ends']

export interface Frames {
  readonly all: number
  readonly late: number
  readonly longestMs: number
}

/** The frames that the page's thread began during `work`; if that scrolls, during its scrolls. */
export async function countFrames(browser: Browser, page: BenchPage, work: () => Promise<void>): Promise<Frames> {
  return (await traceFrames(browser, page, [], work)).count('BeginMainThreadFrame')
}

/**
 * The frames that were shown during the scrolls of `work`, and pictures of them, as JPEGs in base64. The browser scrolls
 * what is drawn by itself: a frame with which the page's thread is late is seen as late, or as blank, only if too
 * little was drawn ahead.
 */
export async function countShownFrames(
  browser: Browser,
  page: BenchPage,
  work: () => Promise<void>,
): Promise<{ readonly frames: Frames; readonly pictures: readonly string[] }> {
  const { count, pictures } = await traceFrames(browser, page, [pictureCategory], work)
  return { frames: count('DrawFrame'), pictures }
}

/** Traces `work`. The page asks for every frame, so that one that does not come is one that something held up. */
async function traceFrames(
  browser: Browser,
  { page }: BenchPage,
  categories: readonly string[],
  work: () => Promise<void>,
) {
  const events = await traced(browser, page, [frameCategory, markCategory, ...categories], async () => {
    await page.evaluate(askForFrames)
    await work()
    await page.evaluate('globalThis.stopFrames()')
  })
  const named = (name: string) => events.filter((event) => event.name === name)
  const starts = named(begins).map(({ ts }) => ts)
  const stops = named(ends).map(({ ts }) => ts)
  const isCounted = ({ ts }: TraceEvent) =>
    starts.length === 0 || starts.some((start, nth) => ts > start && ts <= (stops[nth] ?? Infinity))
  const pid = named('BeginMainThreadFrame')[0]?.pid
  const count = (name: string): Frames => {
    const frames = named(name).filter((event) => event.pid === pid)
    const waits = frames.flatMap((frame, index) => {
      const before = frames[index - 1]
      return before && isCounted(frame) ? [(frame.ts - before.ts) / 1_000] : []
    })
    return {
      all: waits.length + 1,
      late: waits.filter((wait) => wait > lateAfterMs).length,
      longestMs: Math.max(0, ...waits),
    }
  }
  const pictures = named('Screenshot')
    .filter(isCounted)
    .flatMap(({ args }) => args?.snapshot ?? [])
  return { count, pictures }
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
