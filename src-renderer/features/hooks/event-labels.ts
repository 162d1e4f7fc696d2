import type { HookEvent, LifecycleHook } from '../../../src-shared/contract/lifecycle-hooks.ts'

/** The title and the description of each event. */
export const hookEventLabels: Readonly<Record<HookEvent, { readonly title: string; readonly when: string }>> = {
  before_work: {
    title: 'Before work',
    when: 'When a task enters a working state. Plugins and blocking scripts finish first; other scripts run alongside the work.',
  },
  on_work_start: { title: 'Work starts', when: 'When the agent or person starts. Runs alongside the work.' },
  on_work_stop: {
    title: 'Work stops',
    when: 'When work stops and the task isn’t finished: submitted, failed, stopped or lost.',
  },
  on_task_done: {
    title: 'Task done',
    when: 'When a task is done and merged. Its worktree stays until the hook has ended.',
  },
  on_task_cancel: {
    title: 'Task cancelled',
    when: 'Immediately when a task is cancelled. Its worktree stays at least until the hook has ended.',
  },
}

export const audienceWords: readonly { readonly id: LifecycleHook['applies_to']; readonly label: string }[] = [
  { id: 'all', label: 'Anyone' },
  { id: 'agent_only', label: 'Agents' },
  { id: 'user_only', label: 'People' },
]
