import { join } from 'node:path'
import { createAgentDriver } from '../agent/agent-driver.ts'
import type { AgentProfile, AgentProgram } from '../agent/agent-profile.ts'
import { hasFile, hasVariable } from '../agent/signed-in.ts'
import { buildCodexCommandLine, codexRefusedArgs, tokenVariable } from './command-line.ts'
import { converseWithCodex } from './converse.ts'

const program: AgentProgram = {
  executor: 'codex',
  needs: {
    word: 'codex',
    folders: ['~/.codex'],
    hosts: ['api.openai.com', 'auth.openai.com', 'chatgpt.com'],
    folderVariables: ['CODEX_HOME'],
    variables: ['OPENAI_', 'CODEX_', 'AZURE_OPENAI_'],
  },
  program: 'codex',
  installHint: 'Install Codex with `npm install -g @openai/codex` and run `codex login` once.',
  signInHint: 'Run `codex login` once to sign in.',
  signInStatus: {
    args: ['login', 'status'],
    read: ({ stdout, stderr }) => {
      const output = `${stdout}\n${stderr}`
      return /\bnot logged in\b/i.test(output) ? false : /\blogged in\b/i.test(output) ? true : null
    },
  },
  signedIn: (env, home) => {
    const folder = env['CODEX_HOME'] ?? join(home, '.codex')
    if (hasVariable(env, ['OPENAI_API_KEY', 'CODEX_API_KEY']) || hasFile([join(folder, 'auth.json')])) return true
    // The settings may name another provider, or the keychain has the key.
    return hasFile([join(folder, 'config.toml')]) ? null : false
  },
}

/** Codex, headless: one turn of `codex exec --json`, resumed by its thread ID. */
export const codex: AgentProfile = {
  configNames: ['.codex'],
  program,
  refusedArgs: codexRefusedArgs,
  defaultEnv: () => ({ RUST_BACKTRACE: '0' }),
  prepare: ({ config, session_id, mcp }, args) => {
    const { model = null, effort = null } = config
    const request = { model, effort, session_id, mcp_url: mcp?.url ?? null, args }
    return Promise.resolve({
      args: buildCodexCommandLine(request),
      ...(mcp && { env: { [tokenVariable]: mcp.token } }),
    })
  },
  createSession: converseWithCodex,
  exitGraceMs: 30_000,
}

export const definition = createAgentDriver(codex)
