import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { keepInside, type GuardedPage } from '../../../src-main/desktop/keep-inside.ts'

function openPage() {
  const opened: string[] = []
  let onOpen: (details: { readonly url: string }) => unknown = () => undefined
  const events = new EventEmitter()
  const contents = Object.assign(events, { setWindowOpenHandler: (handler: typeof onOpen) => (onOpen = handler) })
  keepInside(contents as unknown as GuardedPage, (address) => opened.push(address))
  return {
    opened,
    open: (url: string) => onOpen({ url }),
    /** Returns whether the event was prevented. */
    isKept: (name: string, url: string, isMainFrame = true) => {
      let isPrevented = false
      events.emit(name, { url, isMainFrame, preventDefault: () => (isPrevented = true) })
      return isPrevented
    },
  }
}

const outside = ['https://evil.example/', 'file:///etc/passwd', 'copse://other/', 'data:text/html,x', 'about:blank']

test('lets no frame leave the app, by a link or a redirect', () => {
  const { isKept } = openPage()
  for (const url of outside) {
    expect(isKept('will-navigate', url), url).toBe(true)
    expect(isKept('will-frame-navigate', url, false), url).toBe(true)
    expect(isKept('will-redirect', url), url).toBe(true)
    expect(isKept('will-redirect', url, false), url).toBe(true)
  }
  for (const name of ['will-navigate', 'will-frame-navigate', 'will-redirect']) {
    expect(isKept(name, 'copse://app/tasks/1', name !== 'will-frame-navigate'), name).toBe(false)
  }
})

test('opens a link of the page once, and nothing for frames and redirects', () => {
  const { isKept, open, opened } = openPage()
  expect(open('https://example.com/a')).toEqual({ action: 'deny' })
  isKept('will-frame-navigate', 'https://example.com/b')
  isKept('will-navigate', 'https://example.com/b')
  isKept('will-frame-navigate', 'https://example.com/c', false)
  isKept('will-redirect', 'https://example.com/d')
  expect(opened).toEqual(['https://example.com/a', 'https://example.com/b'])
})
