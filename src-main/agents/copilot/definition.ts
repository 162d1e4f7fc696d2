import { join } from 'node:path'
import { policyOf } from '../../domain/access/permissions.ts'
import type { AcpAgent } from '../acp/acp-agent.ts'
import { defineAcpAgent } from '../acp/acp-profile.ts'
import { acpRefusedArgs } from '../acp/refused-args.ts'
import { hasVariable } from '../agent/signed-in.ts'

/** GitHub Copilot CLI in its `--acp` mode. */
export const copilot: AcpAgent = {
  configNames: ['.copilot'],
  program: {
    executor: 'copilot',
    needs: {
      word: 'copilot',
      folders: ['~/.copilot', '~/.config/github-copilot'],
      hosts: ['github.com', 'api.github.com', '*.githubcopilot.com'],
      folderVariables: ['COPILOT_HOME'],
      variables: ['COPILOT_', 'GH_TOKEN', 'GITHUB_TOKEN'],
    },
    program: 'copilot',
    places: (home) => [join(home, '.copilot', 'bin', 'copilot')],
    installHint: 'Install Copilot CLI with `npm install -g @github/copilot` and run `copilot login` once.',
    signInHint: 'Run `copilot login` once to sign in.',
    // The account is in the keychain or comes from gh.
    signedIn: (env) =>
      hasVariable(env, ['COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN', 'COPILOT_PROVIDER_BASE_URL']) ? true : null,
  },
  args: ({ config }, own) => [
    ...own,
    '--acp',
    ...(policyOf(config) === 'all' ? ['--allow-all-tools', '--allow-all-paths'] : []),
    ...(config.model === undefined ? [] : ['--model', config.model]),
    ...(config.effort === undefined ? [] : ['--reasoning-effort', config.effort]),
  ],
  refusedArgs: acpRefusedArgs({
    '--reasoning-effort': 'one',
    '--effort': 'one',
    '--port': 'one',
    '--allow-all': 'none',
    '--allow-all-tools': 'none',
    '--allow-all-paths': 'none',
    '--yolo': 'none',
    '--silent': 'none',
    '--share': 'optional',
    '--share-gist': 'none',
    '--remote': 'none',
    '--connect': 'optional',
  }),
  defaultEnv: { COPILOT_AUTO_UPDATE: 'false' },
  configuresViaProtocol: false,
  // A refusal of the model server arrives as text at the end of a successful turn.
  isFailure: (text) => text.startsWith('Error: '),
  isNotice: (text) =>
    /^Info: (?:\S+|Request failed .*\bRetrying\.{3})$|^Warning: \d+ tool call\(s\) had no recorded result/.test(text),
}

export const definition = defineAcpAgent(copilot)
