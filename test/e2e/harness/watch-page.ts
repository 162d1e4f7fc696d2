import type { Page } from 'playwright-core'

/** What the content policy stopped, as the page's own event tells it. */
const listen = `addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
  (window.copseViolations ??= []).push([effectiveDirective, blockedURI, sample].join(' ').trim()))`

export interface PageWatch {
  /** What the page has done so far that only foreign content would make it do. */
  foreign(): Promise<readonly string[]>
}

/** Watches a page from its next load on: violations of its policy, foreign requests, dialogs and the mark of a script. */
export async function watchPage(page: Page): Promise<PageWatch> {
  const told: string[] = []
  await page.addInitScript(listen)
  await page.evaluate(listen)
  page.on('request', (request) => {
    const { protocol, hostname } = new URL(request.url())
    if (protocol !== 'blob:' && protocol !== 'data:' && hostname !== '127.0.0.1') told.push(`asked ${request.url()}`)
  })
  page.on('dialog', (dialog) => {
    told.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  return {
    foreign: async () => [
      ...told,
      ...(await page.evaluate<string[]>(`window.copseViolations ?? []`)),
      ...(await page.evaluate<string[]>(inPage)),
    ],
  }
}

/** Marks of scripts, addresses that start programs, shown characters that deceive, and elements of foreign HTML. */
const inPage = `(() => {
  const found = []
  if (window.copseCanary !== undefined) found.push('a script ran')
  if ({}.polluted !== undefined) found.push('a prototype is polluted')
  // A terminal shows what a program sends to it, line by line, as any other does.
  const text = document.querySelector('.xterm') ? '' : document.body.innerText + '\\n' + document.title
  const deceiving = text.split('\\n').find((line) => /[\\u0007\\u001b\\u202a-\\u202e\\u2066-\\u2069]/.test(line))
  if (deceiving !== undefined) found.push('a character deceives: ' + deceiving)
  for (const { protocol, href } of document.querySelectorAll('a[href]'))
    if (!['http:', 'https:', 'mailto:', 'blob:', location.protocol].includes(protocol)) found.push('leads to ' + href)
  for (const one of document.querySelectorAll('iframe, object, embed, base, meta[http-equiv], form[action], .md style, .md [style]'))
    found.push('has ' + one.outerHTML.slice(0, 80))
  return found
})()`
