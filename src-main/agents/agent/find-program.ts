import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { findOnPath } from '../../platform/process/find-on-path.ts'
import type { AgentProgram, Variables } from './agent-profile.ts'

/** The person's home, as an environment tells it. */
export const homeOf = (environment: Variables): string => environment['HOME'] ?? environment['USERPROFILE'] ?? homedir()

/**
 * The executable of an agent, null when there is none. `command` is the agent's own setting: a path
 * (`~` is the person's home), or a name on PATH. Without it the places of the usual installers are
 * looked at too.
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

/** On Windows, npm puts shims on PATH, which only a shell can start; the program itself may lie beside them. */
function besideShim({ windowsProgram }: AgentProgram, path: string): string {
  if (path.toLowerCase().endsWith('.exe') || windowsProgram === undefined) return path
  return findOnPath(join(dirname(path), 'node_modules', ...windowsProgram)) ?? path
}
