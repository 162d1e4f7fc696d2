/** Returns the last eight hex digits, which cards and branches show. */
export function shortId(id: string): string {
  return id.replaceAll('-', '').slice(-8)
}
