import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'

export const tabIds = ['overview', 'agent', 'changes', 'review', 'activity', 'hooks', 'workspace'] as const
export type TabId = (typeof tabIds)[number]

/** What a task is opened at: its agent while that works, what there is to decide, else what it is about. */
export function openingTab(task: Task | null, kind: WorkflowState['kind'] | undefined): TabId {
  if (task?.active_execution_id) return 'agent'
  return kind === 'gate' || task?.error_annotation?.type === 'merge_conflict' ? 'review' : 'overview'
}

/**
 * Whether a key press is for the open task: the focus is in its panel, on it or nowhere, and not where the key has its own
 * meaning, in a text field, a menu or a dialog.
 */
export function panelTakes(target: EventTarget | null, panel: Element | null): boolean {
  if (!(target instanceof Element)) return true
  if (target.closest('input, textarea, select, [contenteditable], [role="menu"], [role="dialog"]')) return false
  if (panel === null) return target === target.ownerDocument.body
  return panel.contains(target) || target.contains(panel)
}
