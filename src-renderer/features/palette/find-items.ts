import fuzzysort from 'fuzzysort'
import { shortId } from '../../formatters/short-id.ts'

/** An item of the palette. */
export interface PaletteItem {
  readonly id: string
  readonly kind: 'task' | 'action' | 'project' | 'setting'
  readonly group: string
  readonly text: string
  /** The ref of a task: `SHO-42`. */
  readonly ref?: string
  /** Secondary text on the right. */
  readonly note?: string | undefined
  /** Search terms besides the text. */
  readonly words?: string
  /** The shortcut in the notation of tinykeys. */
  readonly binding?: string | undefined
  /** The reason why the item is unavailable; null if it is available. */
  readonly refused?: string | null
}

/** A part of the text; `hit` if it matches the query. */
export interface TextPiece {
  readonly text: string
  readonly hit: boolean
}

interface FoundItem<T extends PaletteItem = PaletteItem> {
  readonly item: T
  readonly pieces: readonly TextPiece[]
  /** How well it matches: 1 is exact. */
  readonly score: number
}

export interface FoundGroup<T extends PaletteItem = PaletteItem> {
  readonly group: string
  readonly items: readonly FoundItem<T>[]
}

/** How much a hit beside the text counts, against one in it. */
const besideShare = 0.6
/** Tasks shown without a query, so that actions have room. */
const maxTasksUnfiltered = 3
const maxPerKind: Readonly<Record<PaletteItem['kind'], number>> = { task: 8, action: 12, project: 6, setting: 8 }

/**
 * Returns the items that match, best first per group, and the group of the best hit first. `>`
 * searches only actions, `#` the number or ID of a task. Without a query all match, but only the
 * first tasks are shown.
 */
export function findItems<T extends PaletteItem>(items: readonly T[], typed: string): readonly FoundGroup<T>[] {
  const query = typed.trim()
  if (query.startsWith('#')) return grouped(byId(items, query.slice(1).toLowerCase()))
  if (query.startsWith('>')) {
    return grouped(
      byText(
        items.filter(({ kind }) => kind === 'action'),
        query.slice(1).trim(),
      ),
    )
  }
  if (query !== '') return grouped([...byRef(items, query), ...byText(items, query)])
  const tasks = items.filter(({ kind }) => kind === 'task').slice(0, maxTasksUnfiltered)
  return grouped(byText([...tasks, ...items.filter(({ kind }) => kind !== 'task')], query))
}

function byText<T extends PaletteItem>(items: readonly T[], query: string): readonly FoundItem<T>[] {
  if (query === '') return items.map(unmarked)
  const keys = [(item: T) => item.text, (item: T) => `${item.ref ?? ''} ${item.words ?? ''}`]
  return fuzzysort.go(query, items, { keys, limit: 0 }).map((result) => {
    const pieces = result[0]?.highlight((match) => ({ text: match, hit: true })) ?? []
    const known = pieces
      .map((piece) => (typeof piece === 'string' ? { text: piece, hit: false } : piece))
      .filter(({ text }) => text !== '')
    const shown = known.length > 0 ? known : [{ text: result.obj.text, hit: false }]
    const [inText, beside] = result
    const score = Math.max(inText?.score ?? 0, (beside?.score ?? 0) * besideShare)
    return { item: result.obj, pieces: shown, score }
  })
}

function byId<T extends PaletteItem>(items: readonly T[], id: string): readonly FoundItem<T>[] {
  return items
    .filter(({ kind }) => kind === 'task')
    .filter((item) => numberOf(item).startsWith(id) || shortId(item.id).includes(id) || item.id.endsWith(id))
    .sort((one, other) => numberOf(one).length - numberOf(other).length)
    .map(unmarked)
}

/** Returns the tasks with this ref: `SHO-42`, or `42` in any project. */
function byRef<T extends PaletteItem>(items: readonly T[], query: string): readonly FoundItem<T>[] {
  if (!/^([a-z]{2,5}-)?\d+$/i.test(query)) return []
  return items.filter((item) => item.ref === query.toUpperCase() || numberOf(item) === query).map(unmarked)
}

const unmarked = <T extends PaletteItem>(item: T) => ({
  item,
  pieces: [{ text: item.text, hit: false }],
  score: 1,
})
const numberOf = ({ ref }: PaletteItem): string => ref?.split('-')[1] ?? ''

function grouped<T extends PaletteItem>(found: readonly FoundItem<T>[]): readonly FoundGroup<T>[] {
  const groups = new Map<string, FoundItem<T>[]>()
  const seen = new Set<T>()
  for (const each of found) {
    if (seen.has(each.item)) continue
    seen.add(each.item)
    const group = groups.get(each.item.group) ?? []
    groups.set(each.item.group, group)
    if (group.length < maxPerKind[each.item.kind]) group.push(each)
  }
  const order: readonly PaletteItem['kind'][] = ['task', 'action', 'project', 'setting']
  const kindOf = (items: readonly FoundItem<T>[]) => order.indexOf(items[0]?.item.kind ?? 'setting')
  const best = (items: readonly FoundItem<T>[]) => Math.max(...items.map(({ score }) => score))
  return [...groups]
    .map(([group, items]) => ({ group, items }))
    .sort((one, other) => best(other.items) - best(one.items) || kindOf(one.items) - kindOf(other.items))
}
