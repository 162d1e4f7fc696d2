const names: Readonly<Record<string, string>> = {
  $mod: 'CmdOrCtrl',
  Control: 'Ctrl',
  Alt: 'Alt',
  Shift: 'Shift',
  Meta: 'Super',
  '[Shift]': '',
  ArrowLeft: 'Left',
  ArrowRight: 'Right',
  ArrowUp: 'Up',
  ArrowDown: 'Down',
  Escape: 'Esc',
  Enter: 'Enter',
  Space: 'Space',
  Tab: 'Tab',
  Backspace: 'Backspace',
  Delete: 'Delete',
  '+': 'Plus',
}

/**
 * A binding of the page as a menu can show it beside a command; null for what no menu knows: sequences, and on macOS
 * keys without a modifier, which the menu there would take away from the text one writes.
 */
export function acceleratorOf(binding: string, platform: NodeJS.Platform): string | null {
  if (binding.includes(' ')) return null
  const parts = binding.endsWith('++') ? [...binding.slice(0, -2).split('+'), '+'] : binding.split('+')
  const keys = parts.map(nameOf)
  if (keys.includes(null)) return null
  const shown = keys.filter((key) => key !== '')
  if (platform === 'darwin' && !parts.some((part) => part === '$mod' || part === 'Control' || part === 'Meta'))
    return null
  return shown.join('+')
}

function nameOf(part: string): string | null {
  const known = names[part]
  if (known !== undefined) return known
  if (/^F([1-9]|1\d|2[0-4])$/.test(part)) return part
  // A menu knows the keys of ASCII only.
  return /^[!-~]$/.test(part) ? part.toUpperCase() : null
}
