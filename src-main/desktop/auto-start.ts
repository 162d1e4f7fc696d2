import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Starts with the system or not, as the system itself has it. */
export interface AutoStart {
  isOn(): boolean
  set(on: boolean): void
}

/** The argument of a start by the system: no window is shown. */
export const hiddenArgument = '--hidden'

/** Login items of macOS and Windows, as Electron knows them. */
export interface LoginItems {
  getLoginItemSettings(query: { readonly args: string[] }): { readonly openAtLogin: boolean }
  setLoginItemSettings(settings: { readonly openAtLogin: boolean; readonly args: string[] }): void
}

/** By the system's login items; on Linux, which has none, by a file in `autostart`. */
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
      // Desktops switch an entry off by a line of their own.
      return entry !== null && !/^(Hidden=true|X-GNOME-Autostart-enabled=false)\s*$/m.test(entry)
    },
    set: (on) => {
      if (!on) return rmSync(file, { force: true })
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, entryFor(program))
    },
  }
}

/** As the Desktop Entry Specification quotes: in double quotes, with four signs escaped, and `%` doubled. */
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
