import { CliError, usageError } from './cli-error.ts'

/** An item that can be named by its ID, a part of it, or its name. */
export interface Named {
  readonly id: string
  /** Shown when several items match. */
  readonly title: string
  /** Whether `title` is a name that also identifies the item. */
  readonly isName: boolean
  /** A second name: `SHO-42`, or the key of a project. */
  readonly ref?: string
}

/** Returns an ID without dashes, in lower case. */
const digits = (text: string) => text.replaceAll('-', '').toLowerCase()

/**
 * Returns the last eight digits, as the app shows them, or as many more as tell the ID from the others that are shown
 * with it. The first digits are the time, which items of one moment share.
 */
export function shortId(id: string, shown: readonly { readonly id: string }[] = []): string {
  const whole = digits(id)
  for (let length = leastDigits; length < whole.length; length += 1) {
    const end = whole.slice(-length)
    if (shown.every((other) => other.id === id || !digits(other.id).endsWith(end))) return end
  }
  return whole
}

const leastDigits = 8

/** Returns whether a text is a complete ID, which needs no look-up. */
export function isWholeId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}

/** Returns the item with this ID or name, else all whose ID begins or ends with the text. */
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

/** Returns the one match. Throws a `CliError` that lists the candidates if there are none or several. */
export function pick<T extends Named>(kind: string, items: readonly T[], text: string): T {
  const found = matching(items, text)
  const [only, ...others] = found
  if (only && others.length === 0) return only
  if (only) throw usageError(`${kind} ${JSON.stringify(text)} matches ${listed(found)}. Use more of the ID.`)
  const known = items.length === 0 ? 'None exist yet.' : `There is ${listed(items)}.`
  throw new CliError('not_found', `No ${kind} ${JSON.stringify(text)}. ${known}`)
}

/** Lists a few items: `0a1b2c3d (Title), …`. */
export function listed(items: readonly Named[]): string {
  const shown = items.slice(0, 8).map(({ id, ref, title }) => `${ref ?? shortId(id, items)} (${title})`)
  const more = items.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}
