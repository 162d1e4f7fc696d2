import { CliError, usageError } from './cli-error.ts'

/** What people may call by its id, a part of it, or its name. */
export interface Named {
  readonly id: string
  /** Told to people where more than one fits. */
  readonly title: string
  /** Whether the title is a name, by which it may be called too. */
  readonly isName: boolean
  /** What people call it beside that: `SHO-42`, or the key of a project. */
  readonly ref?: string
}

/** An id without its dashes. */
const digits = (text: string) => text.replaceAll('-', '').toLowerCase()

/** The last eight digits: what the app shows. */
export function shortId(id: string): string {
  return digits(id).slice(-8)
}

/** Whether a text is a whole id, which needs no looking up. */
export function isWholeId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}

/** All that `text` can mean: the one with this id or name, else those whose id begins or ends with it. */
export function matching<T extends Named>(items: readonly T[], text: string): readonly T[] {
  const wanted = digits(text)
  const exact = items.filter(
    (item) =>
      digits(item.id) === wanted ||
      (item.isName && item.title.toLowerCase() === text.toLowerCase()) ||
      item.ref?.toLowerCase() === text.toLowerCase(),
  )
  if (exact.length > 0) return exact
  if (!/^[0-9a-f]+$/.test(wanted)) return []
  return items.filter(({ id }) => digits(id).startsWith(wanted) || digits(id).endsWith(wanted))
}

/** The one that `text` means. Throws a `CliError` that says which there are, where it is none or more than one. */
export function pick<T extends Named>(kind: string, items: readonly T[], text: string): T {
  const found = matching(items, text)
  const [only, ...others] = found
  if (only && others.length === 0) return only
  if (only) throw usageError(`${kind} ${JSON.stringify(text)} matches ${listed(found)}. Use more of the ID.`)
  const known = items.length === 0 ? 'None exist yet.' : `There is ${listed(items)}.`
  throw new CliError('not_found', `No ${kind} ${JSON.stringify(text)}. ${known}`)
}

/** `0a1b2c3d (Title), …`, a handful at most. */
export function listed(items: readonly Named[]): string {
  const shown = items.slice(0, 8).map(({ id, ref, title }) => `${ref ?? shortId(id)} (${title})`)
  const more = items.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}
