/** Names with a special meaning in the audit. */
const reserved = new Set(['local', 'anonymous', 'system'])
const maxLength = 39

/**
 * Derives a handle from the email's local part: `a`-`z`, digits and single dashes, numbered (`ada-2`) while `isTaken`
 * returns true.
 */
export function chooseHandle(email: string, isTaken: (handle: string) => boolean): string {
  const base = slugOf(email.slice(0, email.lastIndexOf('@')))
  const isFree = (handle: string) => !reserved.has(handle) && !isTaken(handle)
  if (isFree(base)) return base
  for (let number = 2; ; number++) {
    const candidate = `${base}-${number}`
    if (isFree(candidate)) return candidate
  }
}

function slugOf(localPart: string): string {
  const slug = localPart
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxLength)
    .replace(/^-|-$/g, '')
  return slug || 'user'
}
