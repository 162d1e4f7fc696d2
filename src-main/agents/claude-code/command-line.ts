import { filterArgs } from '../agent/filter-args.ts'
import type { FilteredArgs, RefusedArgs } from '../agent/filter-args.ts'
import { mcpServerName } from '../agent/mcp-server.ts'
import { questionTool } from './control.ts'

/** The inputs of Claude Code's command line. */
export interface CommandLineRequest {
  readonly model: string | null
  readonly effort: string | null
  readonly session_id: string | null
  /** Path of the file with Copse's MCP server; null without one. */
  readonly mcp_config: string | null
  /** Claude Code asks people over its stdin before it acts. */
  readonly asks: boolean
  /** The agent's configured arguments. */
  readonly args: readonly string[]
}

/**
 * Tools without use in a headless run: work in another worktree is lost to the task, and scheduled work ends with the
 * process.
 */
const disallowedTools = ['EnterWorktree', 'CronCreate', 'ScheduleWakeup']

/**
 * Claude Code asks about these tools whatever settings files allow and even if it thinks them harmless: Copse
 * decides.
 */
const askedTools = ['Bash', 'PowerShell', 'Monitor', 'Read', 'Edit', 'Write', 'NotebookEdit', 'WebFetch', 'WebSearch']

/** No one can answer a question tool: it would get an empty answer, and the agent would guess. */
const askNobody = ['--permission-mode', 'bypassPermissions', '--disallowedTools']
const unasked = [questionTool, ...disallowedTools]
const askPeople = [
  ...['--permission-mode', 'default', '--permission-prompt-tool', 'stdio'],
  ...['--settings', JSON.stringify({ permissions: { ask: askedTools } }), '--disallowedTools'],
]

/** Flags that Copse sets, or that would change how a headless run works. */
const refusedFlags: RefusedArgs['flags'] = {
  '--print': 'none',
  '--output-format': 'one',
  '--input-format': 'one',
  '--verbose': 'none',
  '--include-partial-messages': 'none',
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

/** Only the last `--settings` counts, and Copse's says what to ask about. */
export const claudeRefusedWhenAsking: RefusedArgs['flags'] = { '--settings': 'one' }

/** Allowed short flags are `-d` (debug) and `-n` (name); of the refused ones, -r and -w may have a value. */
export const claudeRefusedArgs: RefusedArgs = {
  flags: refusedFlags,
  allowedShort: /^-[dn]/,
  shortWithValue: /^-[rw]$/,
}

/**
 * Builds Claude Code's arguments for an unattended run. The prompt is sent over stdin, where no other process can
 * read it and no length limit applies.
 */
export function buildCommandLine(request: CommandLineRequest): FilteredArgs {
  const own = filterArgs(request.args, claudeRefusedArgs)
  const mcp =
    request.mcp_config === null
      ? []
      : ['--mcp-config', request.mcp_config, '--strict-mcp-config', '--allowedTools', `mcp__${mcpServerName}__*`]
  return {
    // The configured arguments come first, so that a list at their end can't swallow Copse's, which win.
    args: [
      ...own.args,
      '-p',
      ...['--output-format', 'stream-json', '--input-format', 'stream-json', '--verbose'],
      // Whole messages carry the usage of their start; only the parts tell what an answer used.
      '--include-partial-messages',
      // If no one can be asked, an agent must build, test and commit as its project demands, which no list of allowed
      // commands covers. The worktree isolates it.
      ...(request.asks ? [...askPeople, disallowedTools.join(',')] : [...askNobody, unasked.join(',')]),
      ...mcp,
      ...(request.model === null ? [] : ['--model', request.model]),
      ...(request.effort === null ? [] : ['--effort', request.effort]),
      ...(request.session_id === null ? [] : ['--resume', request.session_id]),
    ],
    refused: own.refused,
  }
}
