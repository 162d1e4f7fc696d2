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

/** Quotes a name as git does in a patch under `core.quotePath=false`: only if necessary; bytes as latin1. */
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

/** A changed file in `--raw` output. */
export interface RawChange {
  /** `U`: unmerged; then the record does not describe the file on disk. */
  readonly status: 'A' | 'D' | 'M' | 'T' | 'R' | 'U'
  readonly path: string
  readonly old_path: string | null
  /** Such as `100644`; null on a side without the file. */
  readonly old_mode: string | null
  readonly new_mode: string | null
  readonly old_blob: string | null
  /** null too if git has not hashed the file yet. */
  readonly new_blob: string | null
  /** The `diff --git` line above its patch, byte for byte as latin1. */
  readonly header: string
}

/** Parses the records of `git diff -z --raw --no-abbrev`, in git's order. */
export function parseRaw(output: Buffer): readonly RawChange[] {
  const changes: RawChange[] = []
  let at = 0
  const take = (): Buffer => {
    const end = output.indexOf(0, at)
    const field = output.subarray(at, end < 0 ? output.length : end)
    at += field.length + 1
    return field
  }
  while (at < output.length) {
    const [oldMode = '', newMode = '', oldBlob = '', newBlob = '', letters = ''] = take().toString('latin1').split(' ')
    const status = statusOf(letters.charAt(0))
    const first = take()
    const path = status === 'R' ? take() : first
    changes.push({
      status,
      path: path.toString('utf8'),
      old_path: status === 'R' ? first.toString('utf8') : null,
      old_mode: orNothing(oldMode.slice(1)),
      new_mode: orNothing(newMode),
      old_blob: orNothing(oldBlob),
      new_blob: orNothing(newBlob),
      header: `diff --git ${quoteName('a/', first)} ${quoteName('b/', path)}`,
    })
  }
  return changes
}

/** Returns null for all zeros, which mean no object. */
export function orNothing(field: string): string | null {
  return /^0*$/.test(field) ? null : field
}

/** Returns what a letter of git says of a change; a copy counts as a modification. */
export function statusOf(letter: string): RawChange['status'] {
  return letter === 'A' || letter === 'D' || letter === 'T' || letter === 'R' || letter === 'U' ? letter : 'M'
}
