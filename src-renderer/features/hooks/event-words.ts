import type { HookEvent, LifecycleHook } from '../../../src-shared/contract/lifecycle-hooks.ts'

/** When each event fires, for the person who writes a hook for it. */
export const eventWords: Readonly<Record<HookEvent, { readonly title: string; readonly when: string }>> = {
  before_work: {
    title: 'Before work',
    when: 'When a task is about to enter a state where an agent works. The agent waits for the blocking scripts; the others run beside it.',
  },
  on_work_start: { title: 'Work starts', when: 'When the agent has been started.' },
  on_work_stop: {
    title: 'Work stops',
    when: 'When a task leaves a working state and is not at its end: the agent is done or lost, or a review begins.',
  },
  on_task_done: { title: 'Task done', when: 'When a task is done, while its worktree is still there.' },
  on_task_cancel: { title: 'Task cancelled', when: 'When a task is cancelled, while its worktree is still there.' },
}

export const audienceWords: readonly { readonly id: LifecycleHook['applies_to']; readonly label: string }[] = [
  { id: 'all', label: 'Everybody' },
  { id: 'agent_only', label: 'Agents' },
  { id: 'user_only', label: 'People' },
]
