type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

const page = 10
const steps: Readonly<Record<string, number>> = { PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }

/**
 * Returns the index that a list key selects, with `at` of `count` rows selected; null for other
 * keys.
 */
export function rowOf(event: Pressed, at: number, count: number): number | null {
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return null
  const step = steps[event.key]
  return step === undefined ? null : stepped(at, step, count)
}

/** Returns the index moved by `by`, clamped to the list; null if it is empty. */
export function stepped(at: number, by: number, count: number): number | null {
  return count === 0 ? null : Math.min(count - 1, Math.max(0, at + by))
}
