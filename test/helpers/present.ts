/** Returns a value that the test knows to exist; throws if it does not. */
export function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error('There is no value.')
  return value
}
