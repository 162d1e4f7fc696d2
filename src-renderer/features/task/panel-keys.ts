import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { WorkflowState } from '../../../src-shared/contract/workflow-definition.ts'

export const tabIds = ['overview', 'agent', 'changes', 'review', 'activity', 'hooks', 'workspace'] as const
export type TabId = (typeof tabIds)[number]

/** What a task is opened at: its agent while that works, what there is to decide, else what it is about. */
export function openingTab(task: Task | null, kind: WorkflowState['kind'] | undefined): TabId {
  if (task?.active_execution_id) return 'agent'
  return kind === 'gate' || task?.error_annotation?.type === 'merge_conflict' ? 'review' : 'overview'
}

export type PanelCommand =
  { readonly kind: 'tab'; readonly tab: TabId } | { readonly kind: 'full' | 'start' | 'stop' | 'edit' | 'move' }

const commands: Readonly<Record<string, PanelCommand>> = {
  f: { kind: 'full' },
  s: { kind: 'start' },
  x: { kind: 'stop' },
  e: { kind: 'edit' },
  m: { kind: 'move' },
  d: { kind: 'tab', tab: 'changes' },
  r: { kind: 'tab', tab: 'review' },
}

type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'defaultPrevented' | 'target'>

/**
 * What a key means for the open task; null when it means nothing, or when the focus is somewhere that has its
 * own meaning for it: a text field, a menu, a card of the board.
 */
export function panelCommand(event: Pressed, panel: Element | null): PanelCommand | null {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return null
  const target = event.target
  if (target instanceof Element) {
    if (target.closest('input, textarea, select, [contenteditable], [role="menu"], [role="dialog"]')) return null
    const nowhere = target === target.ownerDocument.body
    if (!nowhere && !panel?.contains(target)) return null
  }
  return commands[event.key] ?? null
}
