import type { RefusedArgs } from '../agent/filter-args.ts'
import { mcpServerName } from '../agent/mcp-server.ts'

/** The inputs of Codex's command line. */
export interface CodexRequest {
  readonly model: string | null
  readonly effort: string | null
  readonly session_id: string | null
  readonly mcp_url: string | null
  /** The allowed ones of the agent's configured arguments. */
  readonly args: readonly string[]
}

/** The variable with the token of Copse's MCP server: on Codex's command line everyone could see it. */
export const tokenVariable = 'SVC_API_TOKEN'

/** Flags that Copse sets, or that would change how an unattended run works. */
export const codexRefusedArgs: RefusedArgs = {
  flags: {
    '--json': 'none',
    '--model': 'one',
    '--cd': 'one',
    '--worktree': 'none',
    '--skip-git-repo-check': 'none',
    '--ephemeral': 'none',
    '--last': 'none',
    '--all': 'none',
    '--approve-for-me': 'none',
    '--full-auto': 'none',
    '--yolo': 'none',
    '--dangerously-bypass-approvals-and-sandbox': 'none',
    '--output-last-message': 'one',
    '--color': 'one',
    '--ask-for-approval': 'one',
    '--remote': 'one',
    '--help': 'none',
    '--version': 'none',
  },
  // Allowed short flags: -c (a setting), -i (images), -p (a profile) and -s (the sandbox).
  allowedShort: /^-[cips]/,
  shortWithValue: /^-[mCoa]$/,
}

/**
 * Builds Codex's arguments for an unattended run, whose prompt is sent over stdin. No one can be asked, and an agent
 * must build, test and commit as its project demands, so it has no sandbox unless its own arguments name one; work
 * that it can't commit then is committed for it.
 */
export function buildCodexCommandLine(request: CodexRequest): string[] {
  const { sandbox, rest } = takeSandbox(request.args)
  const { mcp_url: url } = request
  const settings = [
    `sandbox_mode='${sandbox}'`,
    `approval_policy='never'`,
    'check_for_update_on_startup=false',
    ...(request.effort === null ? [] : [`model_reasoning_effort='${request.effort}'`]),
    ...(url === null
      ? []
      : [
          `mcp_servers.${mcpServerName}={url='${url}',bearer_token_env_var='${tokenVariable}',default_tools_approval_mode='approve'}`,
        ]),
  ]
  return [
    'exec',
    // The configured arguments come first: the later of two settings counts.
    ...rest,
    ...['--json', '--skip-git-repo-check'],
    ...settings.flatMap((setting) => ['-c', setting]),
    ...(request.model === null ? [] : ['--model', request.model]),
    ...(request.session_id === null ? [] : ['resume', request.session_id]),
    '-',
  ]
}

const sandboxes = ['read-only', 'workspace-write', 'danger-full-access']

/** Splits the sandbox from the other arguments: `resume` accepts it only as a setting. */
function takeSandbox(args: readonly string[]): { readonly sandbox: string; readonly rest: readonly string[] } {
  const rest: string[] = []
  let sandbox = 'danger-full-access'
  for (let at = 0; at < args.length; at += 1) {
    const [word = '', next = ''] = [args[at], args[at + 1]]
    const isFlag = word === '-s' || word === '--sandbox'
    const isSetting = word === '-c' && next.startsWith('sandbox_mode=')
    const named = isFlag || isSetting ? next : /^(?:--sandbox=|-s)(.+)$/.exec(word)?.[1]
    if (named === undefined) {
      rest.push(word)
      continue
    }
    const mode = named.replace(/^sandbox_mode=/, '').replace(/^["']|["']$/g, '')
    if (sandboxes.includes(mode)) sandbox = mode
    if (isFlag || isSetting) at += 1
  }
  return { sandbox, rest }
}
