import type { ProjectId } from '../../src-shared/contract/ids.ts'

/** What asks for polls may do so again and again. */
export interface PollThrottle {
  /** Polls a project now, or once its last poll of this kind is `everyMs` ago. */
  ask(project_id: ProjectId): void
  stop(): void
}

/** How often a forge is asked for one project because of webhooks, at most. */
const everyMs = 10_000

/** Calls `poll` for the first that asks, and then once for all that ask within ten seconds. */
export function createPollThrottle(poll: (project_id: ProjectId) => void): PollThrottle {
  const windows = new Map<ProjectId, { readonly timer: NodeJS.Timeout; isAsked: boolean }>()
  const begin = (project_id: ProjectId) => {
    const timer = setTimeout(() => {
      const isAsked = windows.get(project_id)?.isAsked === true
      windows.delete(project_id)
      if (isAsked) begin(project_id)
    }, everyMs)
    windows.set(project_id, { timer, isAsked: false })
    poll(project_id)
  }
  return {
    ask: (project_id) => {
      const window = windows.get(project_id)
      if (window) window.isAsked = true
      else begin(project_id)
    },
    stop: () => {
      for (const { timer } of windows.values()) clearTimeout(timer)
      windows.clear()
    },
  }
}
