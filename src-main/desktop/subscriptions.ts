import type { WebContents } from 'electron'
import { desktopChannels, type ReplyError, type StreamReply } from '../../src-shared/contract/desktop.ts'
import type { FeedItem, TranscriptItem } from '../../src-shared/contract/events.ts'

/** Starts a stream that ends when `signal` aborts. */
export type OpenStream = (signal: AbortSignal) => AsyncIterable<FeedItem | TranscriptItem>

export interface Subscriptions extends Disposable {
  /** Pushes a stream to the window until it ends, is cancelled, or the page closes, crashes or reloads. */
  add(contents: WebContents, id: string, open: OpenStream): void
  end(contents: WebContents, id: string): void
}

/** Tracks the streams of every window. `toError` converts a failure to what the page may see. */
export function createSubscriptions(toError: (error: unknown) => ReplyError): Subscriptions {
  const pages = new Map<WebContents, Map<string, AbortController>>()

  const endAll = (contents: WebContents) => {
    for (const controller of pages.get(contents)?.values() ?? []) controller.abort()
    pages.get(contents)?.clear()
  }
  const pageOf = (contents: WebContents) => {
    const known = pages.get(contents)
    if (known) return known
    const open = new Map<string, AbortController>()
    pages.set(contents, open)
    contents.on('did-start-navigation', (details) => {
      if (details.isMainFrame && !details.isSameDocument) endAll(contents)
    })
    contents.on('render-process-gone', () => endAll(contents))
    contents.once('destroyed', () => {
      endAll(contents)
      pages.delete(contents)
    })
    return open
  }

  return {
    add: (contents, id, open) => {
      const page = pageOf(contents)
      if (page.has(id)) return
      const controller = new AbortController()
      page.set(id, controller)
      void forwardItems(contents, id, open, controller.signal, toError).finally(() => page.delete(id))
    },
    end: (contents, id) => pages.get(contents)?.get(id)?.abort(),
    [Symbol.dispose]: () => {
      for (const contents of pages.keys()) endAll(contents)
    },
  }
}

async function forwardItems(
  contents: WebContents,
  id: string,
  open: OpenStream,
  signal: AbortSignal,
  toError: (error: unknown) => ReplyError,
): Promise<void> {
  const push = (reply: StreamReply) => {
    if (!signal.aborted && !contents.isDestroyed()) contents.send(desktopChannels.item, id, reply)
  }
  try {
    for await (const item of open(signal)) push({ kind: 'item', item })
    push({ kind: 'end' })
  } catch (error) {
    if (!signal.aborted) push({ kind: 'failed', error: toError(error) })
  }
}
