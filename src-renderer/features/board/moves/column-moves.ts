import type { TaskMove } from '../../../../src-shared/contract/tasks.ts'
import type { ColumnShape } from '../../../model/workflow-shape.ts'
import type { BoardColumnModel } from '../group-tasks.ts'

/** The effect of dropping a card on a column. */
export type DropTarget =
  | { readonly kind: 'own' }
  | { readonly kind: 'allowed'; readonly move: TaskMove }
  | { readonly kind: 'refused'; readonly reason: string }

/**
 * Returns the effect of a drop, which goes to the first state of the column; others are only in the
 * menu.
 */
export function verdictOf(column: ColumnShape, status: string, moves: readonly TaskMove[]): DropTarget {
  if (column.states.some((state) => state.name === status)) return { kind: 'own' }
  const target = column.states[0]
  const options = moves.filter((move) => move.to === target?.name)
  const allowed = options.find((move) => move.allowed)
  if (allowed) return { kind: 'allowed', move: allowed }
  const reason = options.find((move) => move.reason !== null)?.reason
  return { kind: 'refused', reason: reason ?? `Tasks can’t move from here to ${target?.label ?? column.name}.` }
}

/** Returns the hint for a drop: a verb for the heading, a short title and the consequence. */
export function dropHint(
  move: TaskMove,
  column: ColumnShape,
  branch: string,
): { readonly verb: string; readonly title: string; readonly text: string } {
  const target = column.states[0]?.label ?? column.name
  switch (move.via) {
    case 'claim':
      return {
        verb: 'Start',
        title: `Drop to start it in ${target}`,
        text: 'An agent works on it in its own worktree.',
      }
    case 'verdict_fail':
      return {
        verb: 'Request changes',
        title: `Drop to request changes (goes to ${target})`,
        text: 'You say what should change; the agent reads it.',
      }
    case 'cancel':
      return { verb: 'Cancel', title: 'Drop to cancel it', text: 'The worktree is kept for 24 hours.' }
    case 'transition':
      return column.glyph === 'merging'
        ? { verb: 'Merge', title: `Drop to merge into ${branch}`, text: 'The worktree is removed after the merge.' }
        : { verb: move.label, title: `Drop to move it to ${target}`, text: move.label }
  }
}

export interface ColumnLimit {
  readonly text: string
  readonly title: string
  readonly isOver: boolean
}

/**
 * Returns the task count, the limit and whether it is exceeded; null without a limit or with one
 * per project.
 */
export function limitText({ statesIn, tasks }: Pick<BoardColumnModel, 'statesIn' | 'tasks'>): ColumnLimit | null {
  const [states, ...others] = statesIn.values()
  const limited = (states ?? []).filter((state) => state.wip_limit !== undefined)
  if (limited.length === 0 || others.length > 0) return null
  const names = new Set(limited.map(({ name }) => name))
  const held = tasks.filter(({ status }) => names.has(status)).length
  const limit = limited.reduce((sum, { wip_limit = 0 }) => sum + wip_limit, 0)
  const isOver = held > limit
  const text = `${held} of ${limit}`
  return {
    text,
    title: isOver ? `Over its limit: ${text}` : held === limit ? `Full: ${text}` : `Limit: ${text}`,
    isOver,
  }
}

/** Returns the accessible name of a column. */
export function columnTitle(name: string, count: number, limit: ColumnLimit | null): string {
  const title = `${name}, ${count} ${count === 1 ? 'task' : 'tasks'}`
  return limit ? `${title}, ${limit.title.toLowerCase()}` : title
}

/** The width in pixels of a folded column that opens during a drag. */
const peekWidth = 232

/** Returns whether the column has no room to open to the right. */
export function peekOpensLeft(column: HTMLElement): boolean {
  const board = column.parentElement?.getBoundingClientRect()
  return board !== undefined && column.getBoundingClientRect().left + peekWidth > board.right
}
