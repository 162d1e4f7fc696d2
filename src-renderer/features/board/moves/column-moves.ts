import type { TaskMove } from '../../../../src-shared/contract/tasks.ts'
import type { ColumnShape } from '../../../model/workflow-shape.ts'
import type { BoardColumnModel } from '../group-tasks.ts'

/** What dropping a card on a column would do. */
export type DropTarget =
  | { readonly kind: 'own' }
  | { readonly kind: 'allowed'; readonly move: TaskMove }
  | { readonly kind: 'refused'; readonly reason: string }

/** A drop goes to the first state that the workflow declares for the column; elsewhere only the menu leads. */
export function verdictOf(column: ColumnShape, status: string, moves: readonly TaskMove[]): DropTarget {
  if (column.states.some((state) => state.name === status)) return { kind: 'own' }
  const target = column.states[0]
  const options = moves.filter((move) => move.to === target?.name)
  const allowed = options.find((move) => move.allowed)
  if (allowed) return { kind: 'allowed', move: allowed }
  const reason = options.find((move) => move.reason !== null)?.reason
  return { kind: 'refused', reason: reason ?? `Tasks can’t move from here to ${target?.label ?? column.name}.` }
}

/** What a drop on the column will do: a verb for its head, a short heading, and the consequence below that. */
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
 * What a column with a limit says of it: how many of how many, and whether it holds more than that. null where none of its
 * states has one, or where each project has its own.
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

/** What a column is called where it is read out. */
export function columnTitle(name: string, count: number, limit: ColumnLimit | null): string {
  const title = `${name}, ${count} ${count === 1 ? 'task' : 'tasks'}`
  return limit ? `${title}, ${limit.title.toLowerCase()}` : title
}

/** How wide a folded column opens while a drag passes, in pixels. */
const peekWidth = 232

/** Whether there is no room for it to the right. */
export function peekOpensLeft(column: HTMLElement): boolean {
  const board = column.parentElement?.getBoundingClientRect()
  return board !== undefined && column.getBoundingClientRect().left + peekWidth > board.right
}
