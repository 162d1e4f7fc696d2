import type { DesktopRequest } from '../../src-shared/contract/desktop.ts'

/** Requests to a page that may not be loaded yet. */
export interface PageRequests {
  ask(request: DesktopRequest): void
  /** Sends the waiting requests in order once the page listens. */
  attach(tell: (request: DesktopRequest) => void): void
  /** Queues new requests while the page is closed or reloads. */
  detach(): void
}

/** Queues requests until a page listens. */
export function createPageRequests(): PageRequests {
  let tell: ((request: DesktopRequest) => void) | null = null
  let waiting: DesktopRequest[] = []
  return {
    ask: (request) => {
      if (tell === null) waiting.push(request)
      else tell(request)
    },
    attach: (listener) => {
      tell = listener
      const late = waiting
      waiting = []
      for (const request of late) listener(request)
    },
    detach: () => {
      tell = null
    },
  }
}
