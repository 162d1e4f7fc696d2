import type { Browser, Page } from 'playwright-core'

/** An event of Chromium's own tracing. */
export interface TraceEvent {
  readonly name: string
  readonly cat: string
  /** Microseconds of a clock that all processes share. */
  readonly ts: number
  readonly pid: number
  /** Of a picture of the page: a JPEG in base64. */
  readonly args?: { readonly snapshot?: string }
}

/** What the browser traced of these categories while the page did its work, in order. */
export async function traced(
  browser: Browser,
  page: Page,
  categories: readonly string[],
  work: () => Promise<void>,
): Promise<readonly TraceEvent[]> {
  // Without the minus it would trace all else too: twenty times as much, which slows the page that is measured.
  await browser.startTracing(page, { categories: ['-*', ...categories] })
  try {
    await work()
  } catch (error) {
    await browser.stopTracing()
    throw error
  }
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] }
  return traceEvents.sort((a, b) => a.ts - b.ts)
}
