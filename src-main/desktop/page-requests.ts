import type { DesktopRequest } from '../../src-shared/contract/desktop.ts'

/** Requests to the page, which may not be there yet. */
export interface PageRequests {
  ask(request: DesktopRequest): void
  /** The page listens: what has waited is told in its order. */
  attach(tell: (request: DesktopRequest) => void): void
  /** It went away or is loaded anew: what comes now waits. */
  detach(): void
}

/** Keeps what is asked for until there is a page to hear it. */
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
