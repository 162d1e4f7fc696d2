/** Returns an address that came from outside, if a browser may open it; null for any other scheme. */
export function webAddress(url: string | null): string | null {
  const parsed = url === null ? null : URL.parse(url)
  return parsed?.protocol === 'https:' || parsed?.protocol === 'http:' ? parsed.href : null
}
