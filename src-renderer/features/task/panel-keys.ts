import type { ErrorAnnotation, Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'

export const tabIds = [
  'overview',
  'agent',
  'changes',
  'review',
  'pull_request',
  'activity',
  'hooks',
  'workspace',
] as const
export type TabId = (typeof tabIds)[number]

/** Where the news of a condition is: the end of the run, the failing check, the log of the hook. */
const tabOfCondition: Partial<Record<ErrorAnnotation['type'], TabId>> = {
  execution_failed: 'agent',
  execution_lost: 'agent',
  execution_incomplete: 'agent',
  execution_paused: 'agent',
  limit_reached: 'agent',
  usage_limit: 'agent',
  retry_budget_exhausted: 'review',
  merge_conflict: 'review',
  hook_failed: 'hooks',
  pull_request_closed: 'pull_request',
  pull_request_merged: 'pull_request',
  pull_request_diverged: 'pull_request',
  workspace_error: 'workspace',
  workspace_reset_required: 'workspace',
}

/** What a state does with the work: merges it, or waits for its forge to do so. */
export interface StateWork {
  readonly merges?: boolean
  readonly awaitsForge?: boolean
}

/** Returns the initial tab of a task: where the news is, else the overview. */
export function openingTab(
  task: Task | null,
  kind: WorkflowState['kind'] | undefined,
  { merges = false, awaitsForge = false }: StateWork = {},
): TabId {
  if (task?.active_execution_id) return 'agent'
  if (awaitsForge && task?.error_annotation?.type !== 'hook_failed') return 'pull_request'
  const ofCondition = task?.error_annotation ? tabOfCondition[task.error_annotation.type] : undefined
  if (ofCondition !== undefined && kind !== 'gate') return ofCondition
  if (kind === 'gate' || merges) return 'review'
  // What was merged, and who approved it.
  return kind === 'terminal' && task?.review_passed_at ? 'review' : 'overview'
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
