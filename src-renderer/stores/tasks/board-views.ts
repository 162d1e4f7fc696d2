import { defineStore } from 'pinia'
import { shallowReactive, watch } from 'vue'
import { parseFilter, type BoardFilter } from '../../model/board-filter.ts'
import { readLocal } from '../base/local-storage.ts'

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
/** The orders of a column's cards. */
export const cardOrders = ['manual', 'priority', 'updated'] as const
export type CardOrder = (typeof cardOrders)[number]

/** The groupings of the list. */
export const listGroupings = ['state', 'project', 'none'] as const
export type ListGrouping = (typeof listGroupings)[number]

/** The view of a project's tasks. */
export interface BoardView {
  readonly layout: 'board' | 'list'
  readonly sort: { readonly column: SortColumn; readonly descending: boolean }
  readonly filter: BoardFilter
  readonly order: CardOrder
  /** null: by state, or by project if all projects are shown. */
  readonly group: ListGrouping | null
  /** The list's folded groups. */
  readonly folded: readonly string[]
}

/** A view with a name. Folded groups are not part of it. */
export interface SavedView {
  readonly name: string
  readonly view: BoardView
}

const storageKey = 'copse.boards'
const savedKey = 'copse.saved-views'
const defaultView: BoardView = {
  layout: 'board',
  sort: { column: 'state', descending: false },
  filter: {},
  order: 'manual',
  group: null,
  folded: [],
}

/**
 * Each project's view on this device. The search text, the focused card and the scroll offsets live
 * as long as the page. The screen of all projects has a view of its own.
 */
export const useBoardViews = defineStore('board-views', () => {
  const views = shallowReactive(read())
  const saved = shallowReactive(readSaved())
  watch(
    () => [...saved],
    (kept) => localStorage.setItem(savedKey, JSON.stringify(Object.fromEntries(kept))),
  )
  const queries = shallowReactive(new Map<string, string>())
  const focused = shallowReactive(new Map<string, string>())
  const offsets = new Map<string, number>()
  watch(
    () => [...views],
    (kept) => localStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(kept))),
  )
  const of = (scope: string): BoardView => views.get(scope) ?? defaultView
  return {
    of,
    change: (scope: string, patch: Partial<BoardView>): void => void views.set(scope, { ...of(scope), ...patch }),
    /** Returns the saved views, by name. */
    savedOf: (scope: string): readonly SavedView[] => saved.get(scope) ?? [],
    /** Saves the current view. Replaces a view of the same name. */
    save(scope: string, name: string): void {
      const others = (saved.get(scope) ?? []).filter((one) => one.name !== name)
      const next = [...others, { name, view: { ...of(scope), folded: [] } }]
      saved.set(
        scope,
        next.toSorted((a, b) => a.name.localeCompare(b.name)),
      )
    },
    open(scope: string, name: string): void {
      const found = (saved.get(scope) ?? []).find((one) => one.name === name)
      if (found) views.set(scope, found.view)
    },
    removeSaved: (scope: string, name: string): void =>
      void saved.set(
        scope,
        (saved.get(scope) ?? []).filter((one) => one.name !== name),
      ),
    query: (scope: string): string => queries.get(scope) ?? '',
    search: (scope: string, query: string): void => void queries.set(scope, query),
    /** Returns the ID of the card that keys act on. */
    focusedOf: (scope: string): string | null => focused.get(scope) ?? null,
    focus: (scope: string, taskId: string): void => void focused.set(scope, taskId),
    /** Returns the scroll offset of a part of the view, in pixels. */
    offset: (part: string): number => offsets.get(part) ?? 0,
    keepOffset: (part: string, offset: number): void => void offsets.set(part, offset),
  }
})

/** Reads the stored views. Ignores values of another shape. */
function read(): Map<string, BoardView> {
  return new Map(Object.entries(readLocal(storageKey)).map(([scope, view]) => [scope, viewOf(view)]))
}
function readSaved(): Map<string, readonly SavedView[]> {
  return new Map(
    Object.entries(readLocal(savedKey)).map(([scope, kept]) => [
      scope,
      (Array.isArray(kept) ? kept : []).flatMap((one: unknown) => {
        const { name, view } = { name: null, view: null, ...(typeof one === 'object' ? one : {}) } as Record<
          string,
          unknown
        >
        return typeof name === 'string' && name !== '' ? [{ name, view: viewOf(view) }] : []
      }),
    ]),
  )
}
function viewOf(kept: unknown): BoardView {
  if (typeof kept !== 'object' || kept === null) return defaultView
  const parts = { layout: null, sort: null, filter: null, order: null, group: null, folded: null, ...kept } as Record<
    string,
    unknown
  >
  const { layout, sort, filter, order, group, folded } = parts
  const { column, descending } = { ...defaultView.sort, ...(typeof sort === 'object' ? sort : {}) }
  return {
    layout: layout === 'list' ? 'list' : 'board',
    sort: sortColumns.includes(column) ? { column, descending } : defaultView.sort,
    filter: parseFilter(filter),
    order: cardOrders.find((one) => one === order) ?? defaultView.order,
    group: listGroupings.find((one) => one === group) ?? defaultView.group,
    folded: Array.isArray(folded) ? folded.filter((one) => typeof one === 'string') : [],
  }
}
