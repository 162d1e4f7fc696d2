import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** The system's setting of whether the program starts with it. */
export interface AutoStart {
  isOn(): boolean
  set(on: boolean): void
}

/** Argument of a start by the system: shows no window. */
export const hiddenArgument = '--hidden'

/** Login items of macOS and Windows through Electron. */
export interface LoginItems {
  getLoginItemSettings(query: { readonly args: string[] }): { readonly openAtLogin: boolean }
  setLoginItemSettings(settings: { readonly openAtLogin: boolean; readonly args: string[] }): void
}

/** Uses the system's login items; on Linux, which has none, a file in `autostart`. */
export function createAutoStart(
  platform: NodeJS.Platform,
  items: LoginItems,
  linux: { readonly file: string; readonly program: string },
): AutoStart {
  if (platform === 'linux') return byFile(linux.file, linux.program)
  const args = [hiddenArgument]
  return {
    isOn: () => items.getLoginItemSettings({ args }).openAtLogin,
    set: (openAtLogin) => items.setLoginItemSettings({ openAtLogin, args }),
  }
}

function byFile(file: string, program: string): AutoStart {
  return {
    isOn: () => {
      const entry = readIfThere(file)
      // Desktops disable an entry with a line of their own.
      return entry !== null && !/^(Hidden=true|X-GNOME-Autostart-enabled=false)\s*$/m.test(entry)
    },
    set: (on) => {
      if (!on) return rmSync(file, { force: true })
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, entryFor(program))
    },
  }
}

/** Quotes as the Desktop Entry Specification requires: double quotes, four escaped characters, and `%` doubled. */
function entryFor(program: string): string {
  const quoted = `"${program
    .replace(/["`$\\]/g, '\\$&')
    .replaceAll('\\', '\\\\')
    .replaceAll('%', '%%')}"`
  return [
    '[Desktop Entry]',
    'Type=Application',
    'Name=Copse',
    `Exec=${quoted} ${hiddenArgument}`,
    'Terminal=false',
    'X-GNOME-Autostart-enabled=true',
    '',
  ].join('\n')
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}
