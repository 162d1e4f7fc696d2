import { findOnPath } from './find-on-path.ts'
import { spawnDetached } from './spawn-detached.ts'

/** A terminal program, with the arguments that open it in a folder. */
export interface Terminal {
  readonly program: string
  readonly args: (folder: string) => readonly string[]
}

/** In order of preference; each opens in the folder in which it is started. */
const onLinux = [
  ...['x-terminal-emulator', 'gnome-terminal', 'ptyxis', 'kgx', 'konsole', 'xfce4-terminal'],
  ...['ghostty', 'kitty', 'alacritty', 'wezterm', 'foot', 'xterm'],
]

/** Returns the terminal of this machine, or null. */
export function findTerminal(
  platform: NodeJS.Platform = process.platform,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Terminal | null {
  const inFolder = (): readonly string[] => []
  if (platform === 'darwin') return { program: '/usr/bin/open', args: (folder) => ['-a', 'Terminal', folder] }
  if (platform === 'win32') {
    const modern = findOnPath('wt.exe', env)
    if (modern !== null) return { program: modern, args: (folder) => ['-d', folder] }
    return { program: env['ComSpec'] ?? 'cmd.exe', args: () => ['/c', 'start', 'cmd.exe'] }
  }
  for (const name of [env['TERMINAL'], ...onLinux]) {
    const program = name === undefined || name === '' ? null : findOnPath(name, env)
    if (program !== null) return { program, args: inFolder }
  }
  return null
}

/** Opens a terminal that outlives this process. Rejects if it can't be started. */
export async function openTerminal({ program, args }: Terminal, folder: string): Promise<void> {
  await spawnDetached(program, args(folder), folder)
}
