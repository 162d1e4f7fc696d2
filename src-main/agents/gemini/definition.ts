import { join } from 'node:path'
import type { AcpAgent } from '../acp/acp-agent.ts'
import { defineAcpAgent } from '../acp/acp-profile.ts'
import { acpRefusedArgs } from '../acp/refused-args.ts'
import type { Variables } from '../agent/agent-profile.ts'
import { homeOf } from '../agent/find-program.ts'
import { hasFile, hasVariable } from '../agent/signed-in.ts'
import { keepGeminiSession } from './keep-session.ts'

const folderOf = (env: Variables, home: string): string => join(env['GEMINI_CLI_HOME'] ?? home, '.gemini')

/** Gemini CLI in its `--acp` mode. */
export const gemini: AcpAgent = {
  configNames: ['.gemini'],
  program: {
    executor: 'gemini',
    needs: {
      word: 'gemini',
      folders: ['~/.gemini'],
      hosts: ['*.googleapis.com', 'accounts.google.com'],
      folderVariables: ['GEMINI_CLI_HOME'],
      variables: ['GEMINI_', 'GOOGLE_'],
    },
    program: 'gemini',
    installHint:
      'Install Gemini CLI with `npm install -g @google/gemini-cli`, and set GEMINI_API_KEY or run `gemini` once to sign in.',
    signInHint: 'Set GEMINI_API_KEY, or run `gemini` once to sign in.',
    signedIn: (env, home) => {
      const folder = folderOf(env, home)
      if (hasVariable(env, ['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_APPLICATION_CREDENTIALS'])) return true
      if (hasFile([join(folder, 'oauth_creds.json')])) return true
      // A key may be in a .env file, and an account in the keychain.
      return hasFile([join(folder, 'settings.json'), join(folder, '.env'), join(home, '.env')]) ? null : false
    },
  },
  args: async ({ config, session_id }, own, { env }) => {
    if (session_id !== null) await keepGeminiSession(folderOf(env, homeOf(env)), session_id, new Date())
    return [...own, '--acp', ...(config.model === undefined ? [] : ['--model', config.model])]
  },
  refusedArgs: acpRefusedArgs({
    '--approval-mode': 'one',
    '--yolo': 'none',
    '--list-sessions': 'none',
    '--delete-session': 'one',
    '--list-extensions': 'none',
    '--session-file': 'one',
  }),
  // Gemini ignores settings and tools in an untrusted folder, and a worktree is always new.
  defaultEnv: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  configuresViaProtocol: false,
  reportsToolsViaPermission: true,
  replaysAfterLoad: true,
}

export const definition = defineAcpAgent(gemini)
