import { filterArgs } from '../agent/filter-args.ts'
import type { FilteredArgs, RefusedArgs } from '../agent/filter-args.ts'
import { mcpServerName } from '../agent/mcp-server.ts'
import { questionTool } from './control.ts'

/** What one start of Claude Code needs to be told. */
export interface CommandLineRequest {
  readonly model: string | null
  readonly effort: string | null
  readonly session_id: string | null
  /** The file with our MCP server; null when there is none. */
  readonly mcp_config: string | null
  /** People are there to be asked: it asks them over its stdin before it acts. */
  readonly asks: boolean
  /** The agent's own arguments. */
  readonly args: readonly string[]
}

/**
 * Tools that have no place in a headless run in a given worktree: work in another worktree is lost to
 * the task, and what is scheduled for later dies with the process.
 */
const disallowedTools = ['EnterWorktree', 'CronCreate', 'ScheduleWakeup']

/** It asks about these whatever a settings file allows, and whether or not it thinks them harmless: we decide. */
const askedTools = ['Bash', 'PowerShell', 'Monitor', 'Read', 'Edit', 'Write', 'NotebookEdit', 'WebFetch', 'WebSearch']

/** Nobody can answer a question put as a tool: it would be answered with nothing, and the agent would guess. */
const askNobody = ['--permission-mode', 'bypassPermissions', '--disallowedTools']
const unasked = [questionTool, ...disallowedTools]
const askPeople = [
  ...['--permission-mode', 'default', '--permission-prompt-tool', 'stdio'],
  ...['--settings', JSON.stringify({ permissions: { ask: askedTools } }), '--disallowedTools'],
]

/** Flags that are ours to set, or that would turn a headless run into something else. */
const refusedFlags: RefusedArgs['flags'] = {
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

/** Of several only the last would count, and ours says what it asks about. */
export const claudeRefusedWhenAsking: RefusedArgs['flags'] = { '--settings': 'one' }

/** Of the short flags `-d` (debug) and `-n` (name) stay the agent's; of the refused ones -r and -w may have a value. */
export const claudeRefusedArgs: RefusedArgs = {
  flags: refusedFlags,
  allowedShort: /^-[dn]/,
  shortWithValue: /^-[rw]$/,
}

/**
 * The arguments of Claude Code for an unattended run. The prompt is not among them: it goes over
 * stdin, where no other process can read it and no length limit cuts it.
 */
export function buildCommandLine(request: CommandLineRequest): FilteredArgs {
  const own = filterArgs(request.args, claudeRefusedArgs)
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
      // Where nobody is there to allow anything, an agent must build, test and commit as its project
      // demands, which no list of allowed commands foresees. The worktree is what keeps it apart.
      ...(request.asks ? [...askPeople, disallowedTools.join(',')] : [...askNobody, unasked.join(',')]),
      ...mcp,
      ...(request.model === null ? [] : ['--model', request.model]),
      ...(request.effort === null ? [] : ['--effort', request.effort]),
      ...(request.session_id === null ? [] : ['--resume', request.session_id]),
    ],
    refused: own.refused,
  }
}
