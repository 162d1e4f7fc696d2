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

/** What a press says of itself, as a `KeyboardEvent` does. */
interface Press {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
  readonly shiftKey: boolean
}

/** What stands on the keys of a binding, press by press: `g s` is G, then S. Optional modifiers are left out. */
export function keyNames(binding: string, mac: boolean): readonly (readonly string[])[] {
  return binding.split(' ').map((press) =>
    parts(press)
      .filter((part) => !/^\[\w+\]$/.test(part))
      .map((part) => keyName(part, mac)),
  )
}

/** All of a binding in one line, for tooltips and menus. */
export function keyLine(binding: string, mac: boolean): string {
  return keyNames(binding, mac)
    .map((press) => press.join('+'))
    .join(' then ')
}

/** What a press is bound by; null while only modifiers are down. A sign may need Shift here and not on another keyboard. */
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

/** Whether two bindings can't live side by side: the same, or one begins as the other is. */
export function clash(one: string, other: string): boolean {
  const [a, b] = [one.split(' '), other.split(' ')]
  return a.slice(0, b.length).join(' ') === b.slice(0, a.length).join(' ')
}

/** A plus sign may be the key itself. */
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
