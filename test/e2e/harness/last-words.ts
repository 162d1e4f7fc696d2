import type { Page, Request } from 'playwright-core'
import { onTestFailed, TestRunner } from 'vitest'

const most = 40

/** Reports the page's last requests and their answers if the test fails, because the page is gone by then. */
export function keepLastWords(page: Page): void {
  const since = performance.now()
  const lines: string[] = []
  function note(text: string): void {
    lines.push(`${((performance.now() - since) / 1_000).toFixed(1).padStart(5)} s  ${text}`)
    if (lines.length > most) lines.shift()
  }
  const named = (request: Request): string => {
    const { pathname, search } = new URL(request.url())
    return `${request.method()} ${pathname}${search}`
  }
  const isCall = (request: Request): boolean => ['fetch', 'xhr'].includes(request.resourceType())
  page.on('request', (request) => isCall(request) && note(`→ ${named(request)}`))
  // Does not ask the page, which a walk may have closed.
  page.on('response', (response) => {
    if (isCall(response.request())) note(`← ${response.status()} ${named(response.request())}`)
  })
  page.on('requestfailed', (request) => note(`✗ ${named(request)}: ${request.failure()?.errorText}`))
  page.on('console', (message) => note(`${message.type()}: ${message.text()}`))
  // A page that several tests share was opened before them.
  if (!TestRunner.getCurrentTest()) return
  onTestFailed(({ task }) => {
    console.log(`What the page of “${task.name}” asked for last:\n${lines.join('\n')}`)
  })
}
