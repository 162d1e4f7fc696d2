import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { findOnPath } from '../detect.ts'

/** What to do when Claude Code is not there. */
export const installHint =
  'Install Claude Code with `npm install -g @anthropic-ai/claude-code` and run `claude` once to sign in.'

/**
 * The executable of Claude Code, null when there is none. `command` is the agent's own setting: a
 * path (`~` is the person's home), or a name on PATH. An app started from a desktop often has a
 * short PATH, so without a `command` the places of the usual installers are looked at too.
 */
export function findBinary(
  command: string | null,
  environment: Readonly<Record<string, string | undefined>>,
): string | null {
  const home = environment['HOME'] ?? environment['USERPROFILE'] ?? homedir()
  const named = command?.replace(/^~(?=[\\/])/, () => home)
  const places = named === undefined ? ['claude', ...usualPlaces(home)] : [named]
  for (const place of places) {
    const path = findOnPath(place, environment)
    if (path !== null) return process.platform === 'win32' ? programOf(path) : path
  }
  return null
}

const usualPlaces = (home: string): string[] =>
  process.platform === 'win32'
    ? [join(home, '.local', 'bin', 'claude.exe')]
    : [
        join(home, '.local', 'bin', 'claude'),
        join(home, '.claude', 'local', 'claude'),
        '/opt/homebrew/bin/claude',
        '/usr/local/bin/claude',
      ]

/** On Windows, npm puts shims on PATH, which only a shell can start; the program lies beside them. */
function programOf(path: string): string {
  if (path.toLowerCase().endsWith('.exe')) return path
  return findOnPath(join(dirname(path), 'node_modules', '@anthropic-ai', 'claude-code', 'bin', 'claude.exe')) ?? path
}
