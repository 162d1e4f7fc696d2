import { defineStore } from 'pinia'
import { shallowReactive, watch } from 'vue'
import { parseFilter, type BoardFilter } from '../model/board-filter.ts'
import { readLocal } from './local-storage.ts'

const sortColumns = [
  'project',
  'state',
  'priority',
  'id',
  'title',
  'who',
  'now',
  'added',
  'removed',
  'review',
  'updated',
] as const
export type SortColumn = (typeof sortColumns)[number]
/** In which order the cards of a column stand. */
export const cardOrders = ['manual', 'priority', 'updated'] as const
export type CardOrder = (typeof cardOrders)[number]

/** How the tasks of a project are shown. */
export interface BoardView {
  readonly layout: 'board' | 'list'
  readonly sort: { readonly column: SortColumn; readonly descending: boolean }
  readonly filter: BoardFilter
  readonly order: CardOrder
}

const storageKey = 'copse.boards'
const usual: BoardView = { layout: 'board', sort: { column: 'state', descending: false }, filter: {}, order: 'manual' }

/**
 * How each project's tasks are shown, on this device; what is searched for, which card was on, and how far it was
 * scrolled, as long as the page lives. All projects together have a view of their own.
 */
export const useBoardViews = defineStore('board-views', () => {
  const views = shallowReactive(read())
  const queries = shallowReactive(new Map<string, string>())
  const focused = shallowReactive(new Map<string, string>())
  const offsets = new Map<string, number>()
  watch(
    () => [...views],
    (kept) => localStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(kept))),
  )
  const of = (scope: string): BoardView => views.get(scope) ?? usual
  return {
    of,
    change: (scope: string, patch: Partial<BoardView>): void => void views.set(scope, { ...of(scope), ...patch }),
    query: (scope: string): string => queries.get(scope) ?? '',
    search: (scope: string, query: string): void => void queries.set(scope, query),
    /** The card that the keys act on. */
    focusedOf: (scope: string): string | null => focused.get(scope) ?? null,
    focus: (scope: string, taskId: string): void => void focused.set(scope, taskId),
    /** How far a part of the view was scrolled, in pixels. */
    offset: (part: string): number => offsets.get(part) ?? 0,
    keepOffset: (part: string, offset: number): void => void offsets.set(part, offset),
  }
})

/** What somebody else wrote there is passed over. */
function read(): Map<string, BoardView> {
  return new Map(Object.entries(readLocal(storageKey)).map(([scope, view]) => [scope, viewOf(view)]))
}
function viewOf(kept: unknown): BoardView {
  if (typeof kept !== 'object' || kept === null) return usual
  const parts = { layout: null, sort: null, filter: null, order: null, ...kept } as Record<string, unknown>
  const { layout, sort, filter, order } = parts
  const { column, descending } = { ...usual.sort, ...(typeof sort === 'object' ? sort : {}) }
  return {
    layout: layout === 'list' ? 'list' : 'board',
    sort: sortColumns.includes(column) ? { column, descending } : usual.sort,
    filter: parseFilter(filter),
    order: cardOrders.find((one) => one === order) ?? usual.order,
  }
}
