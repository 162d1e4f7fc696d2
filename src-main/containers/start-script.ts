import { quoted } from '../platform/process/process-shell.ts'
import { waitingScript } from '../platform/process/wait-for-others.ts'

export interface StartScript {
  readonly env: Readonly<Record<string, string>>
  /** Folder of the runner's tools, or null. */
  readonly tools: string | null
  /** Opens the ways out of the container; sets `listeners`, its processes. */
  readonly listening: string
}

/** What a shell can have as a variable's name; shells drop others. */
const isName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)

/**
 * Returns the script that is a container's first program, with the command as its arguments. It has the variables, so
 * that no one reads them on a command line or in the engine's records, and removes itself first.
 */
export function startScript({ env, tools, listening }: StartScript): string {
  const names = Object.entries(env).filter(([name]) => isName(name))
  const variables = names.map(([name, value]) => `export ${name}=${quoted([value])}\n`)
  const path =
    tools === null ? '' : `export SVC_TOOLS_DIR=${quoted([tools])} PATH=${quoted([`${tools}/bin`])}:"$PATH"\n`
  // As the first process of the container it reaps those that lost their parent, as shells do while they wait.
  return `rm -f "$0"
${variables.join('')}${path}${listening}unset started
${waitingScript(1, 'kill $listeners 2>/dev/null')}
`
}
