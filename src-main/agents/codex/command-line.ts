import type { RefusedArgs } from '../agent/filter-args.ts'
import { mcpServerName } from '../agent/mcp-server.ts'

/** What one start of Codex needs to be told. */
export interface CodexRequest {
  readonly model: string | null
  readonly effort: string | null
  readonly session_id: string | null
  readonly mcp_url: string | null
  /** The agent's own arguments that it may have. */
  readonly args: readonly string[]
}

/** The variable that Codex reads the token of our MCP server from: on its command line everybody could see it. */
export const tokenVariable = 'SVC_API_TOKEN'

/** Flags that are ours to set, or that would turn an unattended run into something else. */
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
  // -c (a setting), -i (images), -p (a profile) and -s (the sandbox) stay the agent's.
  allowedShort: /^-[cips]/,
  shortWithValue: /^-[mCoa]$/,
}

/**
 * The arguments of Codex for an unattended run, whose prompt comes over stdin. Nobody is there to allow
 * anything, and an agent must build, test and commit as its project demands, so that it has no sandbox
 * unless its own arguments name one; what it can't commit then is committed for it.
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
    // The agent's own come first: of two settings the later one counts.
    ...rest,
    ...['--json', '--skip-git-repo-check'],
    ...settings.flatMap((setting) => ['-c', setting]),
    ...(request.model === null ? [] : ['--model', request.model]),
    ...(request.session_id === null ? [] : ['resume', request.session_id]),
    '-',
  ]
}

const sandboxes = ['read-only', 'workspace-write', 'danger-full-access']

/** The sandbox that the arguments name, and the others: `resume` knows it as a setting only. */
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
