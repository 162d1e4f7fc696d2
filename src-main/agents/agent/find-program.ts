import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { findOnPath } from '../../platform/process/find-on-path.ts'
import type { AgentProgram, Variables } from './agent-profile.ts'

/** Returns the person's home folder from environment variables. */
export const homeOf = (environment: Variables): string => environment['HOME'] ?? environment['USERPROFILE'] ?? homedir()

/**
 * Returns an agent's executable, or null. `command` is the agent's setting: a path (`~` is the person's home) or a
 * name on PATH. Without it, installers' usual folders are searched too.
 */
export function findProgram(about: AgentProgram, command: string | null, environment: Variables): string | null {
  const home = homeOf(environment)
  const named = command?.replace(/^~(?=[\\/])/, () => home)
  const places = named === undefined ? [about.program, ...usualPlaces(about, home)] : [named]
  for (const place of places) {
    const path = findOnPath(place, environment)
    if (path !== null) return process.platform === 'win32' ? besideShim(about, path) : path
  }
  return null
}

const usualPlaces = ({ program, places }: AgentProgram, home: string): readonly string[] =>
  process.platform === 'win32'
    ? [join(home, '.local', 'bin', `${program}.exe`)]
    : [
        join(home, '.local', 'bin', program),
        ...(places?.(home) ?? []),
        join('/opt/homebrew/bin', program),
        join('/usr/local/bin', program),
      ]

/** On Windows, npm puts shims on PATH that only a shell can start; the program may be next to them. */
function besideShim({ windowsProgram }: AgentProgram, path: string): string {
  if (path.toLowerCase().endsWith('.exe') || windowsProgram === undefined) return path
  return findOnPath(join(dirname(path), 'node_modules', ...windowsProgram)) ?? path
}
