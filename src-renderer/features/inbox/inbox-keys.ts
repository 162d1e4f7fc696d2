type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

const page = 10
const steps: Readonly<Record<string, number>> = { PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }

/** The row that a key of every list leads to, with `at` of `count` rows selected; null where it is another key. */
export function rowOf(event: Pressed, at: number, count: number): number | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null
  const step = steps[event.key]
  return step === undefined ? null : stepped(at, step, count)
}

/** So many rows further, but not over the ends; null in an empty list. */
export function stepped(at: number, by: number, count: number): number | null {
  return count === 0 ? null : Math.min(count - 1, Math.max(0, at + by))
}
