import { join } from 'node:path'
import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { policyOf } from '../../domain/access/permissions.ts'
import { createAgentDriver } from '../agent/agent-driver.ts'
import type { AgentDriverOptions } from '../agent/agent-driver.ts'
import type { AgentProfile, AgentProgram, PrepareContext, PreparedLaunch } from '../agent/agent-profile.ts'
import { mcpServerName } from '../agent/mcp-server.ts'
import { writePrivateFile } from '../agent/private-file.ts'
import { hasFile, hasVariable } from '../agent/signed-in.ts'
import { isRecord } from '../agent/text.ts'
import { buildCommandLine, claudeRefusedArgs, claudeRefusedWhenAsking } from './command-line.ts'
import { converseWithClaude } from './converse.ts'
import { claudeUnsetEnv, claudeDefaultEnv } from './environment.ts'
import type { ExecutorDefinition } from '../definition.ts'
import type { AgentRun } from '../definition.ts'

const program: AgentProgram = {
  executor: 'claude-code',
  needs: {
    word: 'claude',
    folders: ['~/.claude', '~/.claude.json'],
    hosts: ['api.anthropic.com', '*.anthropic.com', 'claude.ai', 'platform.claude.com'],
    folderVariables: ['CLAUDE_CONFIG_DIR'],
    variables: ['ANTHROPIC_', 'CLAUDE_', 'AWS_REGION', 'AWS_BEARER_TOKEN_BEDROCK'],
  },
  program: 'claude',
  places: (home) => [join(home, '.claude', 'local', 'claude')],
  windowsProgram: ['@anthropic-ai', 'claude-code', 'bin', 'claude.exe'],
  installHint: 'Install Claude Code with `npm install -g @anthropic-ai/claude-code` and run `claude` once to sign in.',
  signInHint: 'Run `claude` once to sign in.',
  signInStatus: {
    args: ['auth', 'status'],
    read: ({ stdout }) => {
      const told = parseJson(stdout)
      return isRecord(told) && typeof told['loggedIn'] === 'boolean' ? told['loggedIn'] : null
    },
  },
  signedIn: (env, home) => {
    const keys = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN']
    const folder = env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude')
    if (hasVariable(env, keys) || hasFile([join(folder, '.credentials.json')])) return true
    // A helper may provide the key, a cloud provider may vouch for it, and macOS keeps it in the keychain.
    const elsewhere = process.platform !== 'linux' || hasFile([join(folder, 'settings.json')])
    return elsewhere || hasVariable(env, ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX']) ? null : false
  },
}

/** Claude Code, headless: stream-json in both directions, the prompt over stdin. */
const claudeCode: AgentProfile = {
  configNames: ['.claude'],
  program,
  refusedArgs: claudeRefusedArgs,
  refusedWhenAsking: claudeRefusedWhenAsking,
  defaultEnv: claudeDefaultEnv,
  unsetEnv: claudeUnsetEnv,
  prepare: prepareClaude,
  createSession: converseWithClaude,
  exitGraceMs: 30_000,
}

/** Creates the Claude Code executor with a given clock or environment. */
export const createClaudeCodeDriver = (options: AgentDriverOptions = {}): ExecutorDefinition =>
  createAgentDriver(claudeCode, options)

export const definition = createClaudeCodeDriver()

async function prepareClaude(
  run: AgentRun,
  own: readonly string[],
  { resources }: PrepareContext,
): Promise<PreparedLaunch> {
  const mcp = run.mcp && resources.use(await writePrivateFile('mcp.json', mcpConfig(run.mcp)))
  const { model = null, effort = null } = run.config
  const asks = policyOf(run.config) !== 'all'
  return buildCommandLine({ model, effort, session_id: run.session_id, mcp_config: mcp?.path ?? null, asks, args: own })
}

function mcpConfig({ url, token }: NonNullable<AgentRun['mcp']>): string {
  const server = { type: 'http', url, headers: { Authorization: `Bearer ${token}` } }
  return JSON.stringify({ mcpServers: { [mcpServerName]: server } })
}
