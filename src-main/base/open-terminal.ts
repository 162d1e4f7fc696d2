import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { childEnvironment } from './process-environment.ts'

/** A terminal program of the person's, with the arguments that open it in a folder. */
export interface Terminal {
  readonly program: string
  readonly args: (folder: string) => readonly string[]
}

/** In the order of preference; each begins in the folder in which it is started. */
const onLinux = [
  ...['x-terminal-emulator', 'gnome-terminal', 'ptyxis', 'kgx', 'konsole', 'xfce4-terminal'],
  ...['ghostty', 'kitty', 'alacritty', 'wezterm', 'foot', 'xterm'],
]

/** The terminal that would be opened on this machine; null when none is found. */
export async function findTerminal(
  platform: NodeJS.Platform = process.platform,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Terminal | null> {
  const inFolder = (): readonly string[] => []
  if (platform === 'darwin') return { program: '/usr/bin/open', args: (folder) => ['-a', 'Terminal', folder] }
  if (platform === 'win32') {
    const modern = await onPath('wt.exe', env)
    if (modern !== null) return { program: modern, args: (folder) => ['-d', folder] }
    return { program: env['ComSpec'] ?? 'cmd.exe', args: () => ['/c', 'start', 'cmd.exe'] }
  }
  for (const name of [env['TERMINAL'], ...onLinux]) {
    const program = name === undefined || name === '' ? null : await onPath(name, env)
    if (program !== null) return { program, args: inFolder }
  }
  return null
}

/** Opens it and lets it go: it outlives the app. Rejects when it can't be started. */
export async function openTerminal({ program, args }: Terminal, folder: string): Promise<void> {
  const child = spawn(program, [...args(folder)], {
    cwd: folder,
    env: childEnvironment({}),
    detached: true,
    stdio: 'ignore',
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  child.unref()
}

async function onPath(name: string, env: Readonly<Record<string, string | undefined>>): Promise<string | null> {
  for (const folder of (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter(Boolean)) {
    try {
      await access(join(folder, name), constants.X_OK)
      return join(folder, name)
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
    }
  }
  return null
}
