import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'

export const tabIds = ['overview', 'agent', 'changes', 'review', 'activity', 'hooks', 'workspace'] as const
export type TabId = (typeof tabIds)[number]

/**
 * Returns the initial tab of a task: the agent while it works, a pending decision, else the
 * overview.
 */
export function openingTab(task: Task | null, kind: WorkflowState['kind'] | undefined): TabId {
  if (task?.active_execution_id) return 'agent'
  return kind === 'gate' || task?.error_annotation?.type === 'merge_conflict' ? 'review' : 'overview'
}

/**
 * Returns whether a key press is for the open task: the focus is in its panel, on its card or
 * nowhere, and not in a text field, menu or dialog with its own keys.
 */
export function panelTakes(target: EventTarget | null, panel: Element | null): boolean {
  if (!(target instanceof Element)) return true
  if (target.closest('input, textarea, select, [contenteditable], [role="menu"], [role="dialog"]')) return false
  if (panel === null) return target === target.ownerDocument.body
  return panel.contains(target) || target.contains(panel)
}
