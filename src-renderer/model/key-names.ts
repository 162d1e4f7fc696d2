const names: Readonly<Record<string, string>> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
  Control: 'Ctrl',
  Delete: 'Del',
  ' ': 'Space',
}

/** The parts of a `KeyboardEvent` that identify a press. */
interface Press {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
}

/** Returns the key labels of a binding, press by press: `g s` is G, then S. Leaves out optional modifiers. */
export function keyNames(binding: string, mac: boolean): readonly (readonly string[])[] {
  return binding.split(' ').map((press) =>
    parts(press)
      .filter((part) => !/^\[\w+\]$/.test(part))
      .map((part) => keyName(part, mac)),
  )
}

/** Returns a binding as one line, for tooltips and menus. */
export function keyLine(binding: string, mac: boolean): string {
  return keyNames(binding, mac)
    .map((press) => press.join('+'))
    .join(' then ')
}

/**
 * Returns the binding of a press; null while only modifiers are down. Punctuation has optional
 * Shift, because keyboards differ.
 */
export function bindingOf(event: Press, mac: boolean): string | null {
  const { key } = event
  if (['Control', 'Meta', 'Alt', 'Shift', 'AltGraph', 'Dead', 'Unidentified'].includes(key)) return null
  const isLetter = key.toLowerCase() !== key.toUpperCase()
  const isSign = key.length === 1 && !isLetter && key !== ' '
  const isMod = mac ? event.metaKey : event.ctrlKey
  const other = mac ? event.ctrlKey : event.metaKey
  const modifiers = [
    ...(isMod ? ['$mod'] : []),
    ...(other ? [mac ? 'Control' : 'Meta'] : []),
    ...(event.altKey ? ['Alt'] : []),
    ...(isSign ? ['[Shift]'] : event.shiftKey ? ['Shift'] : []),
  ]
  return [...modifiers, key === ' ' ? 'Space' : key.length === 1 ? key.toLowerCase() : key].join('+')
}

/** Returns whether two bindings conflict: they are equal, or one is the beginning of the other. */
export function clash(one: string, other: string): boolean {
  const [a, b] = [one.split(' '), other.split(' ')]
  return a.slice(0, b.length).join(' ') === b.slice(0, a.length).join(' ')
}

/** Splits a press into its parts. The key itself may be a plus sign. */
function parts(press: string): readonly string[] {
  if (press === '+' || press.endsWith('++')) return [...press.slice(0, -2).split('+').filter(Boolean), '+']
  return press.split('+')
}

function keyName(part: string, mac: boolean): string {
  if (part === '$mod') return mac ? '⌘' : 'Ctrl'
  if (part === 'Meta') return mac ? '⌘' : 'Win'
  if (part === 'Alt' && mac) return '⌥'
  return names[part] ?? (part.length === 1 ? part.toUpperCase() : part)
}
