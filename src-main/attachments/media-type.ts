const starts: readonly (readonly [media_type: string, first: string, at: number])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n', 0],
  ['image/jpeg', '\xff\xd8\xff', 0],
  ['image/gif', 'GIF87a', 0],
  ['image/gif', 'GIF89a', 0],
  ['image/webp', 'WEBP', 8],
  ['application/pdf', '%PDF-', 0],
]

/** Returns the type of a file by its bytes, whatever its name: an image, a PDF, text, or other. */
export function mediaTypeOf(bytes: Buffer): string {
  const has = (text: string, at: number) => bytes.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'))
  const known = starts.find(
    ([media_type, first, at]) => has(first, at) && (media_type !== 'image/webp' || has('RIFF', 0)),
  )
  if (known) return known[0]
  return isText(bytes) ? 'text/plain' : 'application/octet-stream'
}

function isText(bytes: Buffer): boolean {
  if (bytes.includes(0)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
