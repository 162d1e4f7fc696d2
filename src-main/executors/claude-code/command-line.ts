/** What one start of Claude Code needs to be told. */
export interface CommandLineRequest {
  readonly model: string | null
  readonly session_id: string | null
  /** The file with our MCP server; null when there is none. */
  readonly mcp_config: string | null
  /** The agent's own arguments. */
  readonly args: readonly string[]
}

export interface CommandLine {
  readonly args: readonly string[]
  /** The agent's own arguments that were left out, because they would break the protocol or the rules of a run. */
  readonly refused: readonly string[]
}

/** The name under which the agent sees our MCP server. */
export const mcpServerName = 'svc'

/**
 * Tools that have no place in a headless run in a given worktree: nobody can answer a question put
 * as a tool (it would be answered with nothing, and the agent would guess), work in another worktree
 * is lost to the task, and what is scheduled for later dies with the process.
 */
const disallowedTools = ['AskUserQuestion', 'EnterWorktree', 'CronCreate', 'ScheduleWakeup']

/** How many values follow a flag: none, one, one if it does not look like a flag, or as many as there are. */
type Arity = 'none' | 'one' | 'optional' | 'many'

/** Flags that are ours to set, or that would turn a headless run into something else. */
const refusedFlags: Readonly<Record<string, Arity>> = {
  '--print': 'none',
  '--output-format': 'one',
  '--input-format': 'one',
  '--verbose': 'none',
  '--permission-mode': 'one',
  '--permission-prompts': 'one',
  '--permission-prompt-tool': 'one',
  '--dangerously-skip-permissions': 'none',
  '--allow-dangerously-skip-permissions': 'none',
  '--restricted': 'none',
  '--mcp-config': 'many',
  '--strict-mcp-config': 'none',
  '--resume': 'optional',
  '--resume-session-at': 'one',
  '--continue': 'none',
  '--session-id': 'one',
  '--fork-session': 'none',
  '--from-pr': 'optional',
  '--no-session-persistence': 'none',
  '--background': 'none',
  '--bg': 'none',
  '--cloud': 'optional',
  '--environment': 'one',
  '--teleport': 'optional',
  '--remote-control': 'optional',
  '--desktop': 'none',
  '--worktree': 'optional',
  '--tmux': 'optional',
  '--ide': 'none',
  '--init-only': 'none',
  '--version': 'none',
  '--help': 'none',
}
/** Short flags that stay the agent's: `-d` (debug) and `-n` (name). Any other could hide a refused one, as in `-pc`. */
const allowedShort = /^-[dn]/

/**
 * The arguments of Claude Code for an unattended run. The prompt is not among them: it goes over
 * stdin, where no other process can read it and no length limit cuts it.
 */
export function buildCommandLine(request: CommandLineRequest): CommandLine {
  const own = filterArgs(request.args)
  const mcp =
    request.mcp_config === null
      ? []
      : ['--mcp-config', request.mcp_config, '--strict-mcp-config', '--allowedTools', `mcp__${mcpServerName}__*`]
  return {
    // The agent's own come first, so that a list at their end can't swallow anything and ours win.
    args: [
      ...own.args,
      '-p',
      ...['--output-format', 'stream-json', '--input-format', 'stream-json', '--verbose'],
      // Nobody is there to allow anything, and an agent must build, test and commit as its project
      // demands, which no list of allowed commands foresees. The worktree is what keeps it apart.
      ...['--permission-mode', 'bypassPermissions'],
      ...['--disallowedTools', disallowedTools.join(',')],
      ...mcp,
      ...(request.model === null ? [] : ['--model', request.model]),
      ...(request.session_id === null ? [] : ['--resume', request.session_id]),
    ],
    refused: own.refused,
  }
}

function filterArgs(given: readonly string[]): CommandLine {
  const args: string[] = []
  const refused: string[] = []
  for (let at = 0; at < given.length;) {
    const values = countValues(given, at + 1)
    const token = given[at] ?? ''
    if (!token.startsWith('-') || token === '-' || token === '--') {
      // Words that follow no flag would be a second prompt or a subcommand.
      refused.push(token)
      at += 1
    } else if (isRefused(token)) {
      const taken = Math.min(values, arityOf(token))
      refused.push(...given.slice(at, at + 1 + taken))
      at += 1 + taken
    } else {
      args.push(...given.slice(at, at + 1 + values))
      at += 1 + values
    }
  }
  return { args, refused }
}

const isRefused = (token: string): boolean =>
  token.startsWith('--') ? Object.hasOwn(refusedFlags, nameOf(token)) : !allowedShort.test(token)

const nameOf = (token: string): string => token.split('=', 1)[0] ?? token

function arityOf(token: string): number {
  if (token.includes('=')) return 0
  // Of the short flags that are refused, -r and -w may have a value.
  const arity = token.startsWith('--') ? refusedFlags[token] : /^-[rw]$/.test(token) ? 'optional' : 'none'
  return arity === 'many' ? Infinity : arity === 'none' || arity === undefined ? 0 : 1
}

/** The words from `from` on up to the next flag. */
function countValues(given: readonly string[], from: number): number {
  const next = given.findIndex((token, at) => at >= from && token.startsWith('-'))
  return (next < 0 ? given.length : next) - from
}
