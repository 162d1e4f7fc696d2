import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { DevEnvironment } from './devcontainer/environment.ts'
import { quoted } from '../platform/process/process-shell.ts'
import { waitingScript } from '../platform/process/wait-for-others.ts'

export interface StartScript {
  readonly env: Readonly<Record<string, string>>
  /** Folder of the runner's tools, or null. */
  readonly tools: string | null
  /** Opens the ways out of the container; sets `listeners`, its processes. */
  readonly listening: string
  readonly dev?: DevEnvironment | undefined
  /** Has the programs use the home of the dev container's user, where they can write there. */
  readonly isUsersHome?: boolean
}

/** What a shell can have as a variable's name; shells drop others. */
const isName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)

/** The start script's own name with this is a file that has its exit code. */
const endSuffix = '.end'

const killedCode = 137

/**
 * Returns how the program of a start script has ended. Clients of engines don't always learn it, and say something else.
 * `told`: what the client has ended with, which counts where the script never began.
 */
export async function programsExitCode(start: string, told: number): Promise<number> {
  // It removes itself first.
  if (existsSync(start)) return told
  const text = await readFile(`${start}${endSuffix}`, 'utf8').catch(() => '')
  const own = /^\d+\n$/.test(text) ? Number(text) : killedCode
  // A client that failed has left a program which then was ended, whatever it says of that.
  return told === 0 || told === own ? own : killedCode
}

/**
 * Returns the script that is a container's first program, with the command as its arguments. It has the variables, so
 * that no one reads them on a command line or in the engine's records, and removes itself first.
 */
export function startScript({ env, tools, listening, dev, isUsersHome }: StartScript): string {
  const names = Object.entries(env).filter(([name]) => isName(name))
  const variables = names.map(([name, value]) => `export ${name}=${quoted([value])}\n`)
  const path =
    tools === null ? '' : `export SVC_TOOLS_DIR=${quoted([tools])} PATH=${quoted([`${tools}/bin`])}:"$PATH"\n`
  // As the first process of the container it reaps those that lost their parent, as shells do while they wait.
  const home = dev !== undefined && isUsersHome === true ? usersHome(dev.user) : ''
  // What starts with a dev container has none of the run's variables, which can be secrets.
  const starting =
    dev === undefined ? '' : `export HOME=${quoted([env['HOME'] ?? '/'])}\n${home}${dev.variables}${dev.starts}`
  return `trap 'echo $? >"$0${endSuffix}"' EXIT
rm -f "$0"
${starting}own() { set -- /proc/[0-9]*; own=$#; }
own
${variables.join('')}${home}${path}${listening}unset started
${waitingScript('$own', 'kill $listeners 2>/dev/null')}
`
}

/** Returns lines that set HOME to that of a user, by name or number. */
const usersHome = (user: string): string => `while IFS=: read -r name _ id _ _ folder _; do
case ${quoted([user])} in "$name" | "$id") [ ! -w "$folder" ] || HOME=$folder ;; esac
done </etc/passwd 2>/dev/null
export HOME
`
