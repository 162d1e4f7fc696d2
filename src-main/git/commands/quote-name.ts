const escapes: Readonly<Record<number, string>> = {
  7: '\\a',
  8: '\\b',
  9: '\\t',
  10: '\\n',
  11: '\\v',
  12: '\\f',
  13: '\\r',
  34: '\\"',
  92: '\\\\',
}

/** A name as git writes it in a patch under `core.quotePath=false`: in quotes where it must; bytes as latin1. */
export function quoteName(prefix: string, name: Buffer): string {
  const text = name.toString('latin1')

  if (!/[\u0000-\u001f"\\\u007f]/.test(text)) return prefix + text
  let quoted = ''
  for (const byte of name) quoted += escape(byte)
  return `"${prefix}${quoted}"`
}

function escape(byte: number): string {
  const short = escapes[byte]
  if (short !== undefined) return short
  return byte < 0x20 || byte === 0x7f ? `\\${byte.toString(8).padStart(3, '0')}` : String.fromCharCode(byte)
}
