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
 * Returns a binding of the page as a menu accelerator; null if menus can't show it: sequences, and on macOS keys
 * without a modifier, which the menu would take from text input.
 */
export function acceleratorOf(binding: string, platform: NodeJS.Platform): string | null {
  if (binding.includes(' ')) return null
  const parts = binding.endsWith('++') ? [...binding.slice(0, -2).split('+'), '+'] : binding.split('+')
  const keys = parts.map(keyName)
  if (keys.includes(null)) return null
  const shown = keys.filter((key) => key !== '')
  if (platform === 'darwin' && !parts.some((part) => part === '$mod' || part === 'Control' || part === 'Meta'))
    return null
  return shown.join('+')
}

function keyName(part: string): string | null {
  const known = names[part]
  if (known !== undefined) return known
  if (/^F([1-9]|1\d|2[0-4])$/.test(part)) return part
  // Accelerators support only ASCII keys.
  return /^[!-~]$/.test(part) ? part.toUpperCase() : null
}
