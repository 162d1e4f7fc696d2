import type { PullRequestThread } from '../../../src-shared/contract/pull-requests.ts'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import { useDrafts } from '../base/drafts.ts'
import { useToasts } from '../base/toasts.ts'
import { usePullRequests } from './pull-requests.ts'

/** Answers in threads of the forge, and their drafts. */
export interface ThreadAnswers {
  readonly draftOf: (thread: PullRequestThread) => string
  readonly keepDraft: (thread: PullRequestThread, text: string) => void
  /** Resolves to whether the forge has the answer; a toast shows a refusal. */
  readonly send: (thread: PullRequestThread, body: string, resolve: boolean) => Promise<boolean>
}

/** Returns the answers in the threads of a task's pull request. */
export function useThreadAnswers(task: () => Task | null): ThreadAnswers {
  const drafts = useDrafts()
  const pulls = usePullRequests()
  const toasts = useToasts()
  const keyOf = ({ id }: PullRequestThread) => `pull-request/${task()?.id ?? ''}/${id}`
  return {
    draftOf: (thread) => drafts.get(keyOf(thread)) ?? '',
    keepDraft: (thread, text) => drafts.keep(keyOf(thread), text || null),
    send: async (thread, body, resolve) => {
      const now = task()
      if (now === null) return false
      return await toasts.attemptOn(now, 'Couldn’t send the answer', () =>
        pulls.reply({ task_id: now.id, thread_id: thread.id, body, resolve }),
      )
    },
  }
}
