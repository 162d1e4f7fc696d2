import { join } from 'node:path'
import type { AcpAgent } from '../acp/acp-agent.ts'
import { defineAcpAgent } from '../acp/acp-profile.ts'
import { acpRefusedArgs } from '../acp/refused-args.ts'
import { hasFile } from '../agent/signed-in.ts'

/** Makes opencode ask about everything, whatever the person's settings say, because Copse decides. */
const asksAll = Object.fromEntries(
  ['*', 'read', 'glob', 'grep', 'list', 'edit', 'bash', 'task', 'webfetch', 'websearch', 'external_directory'].map(
    (tool) => [tool, 'ask'],
  ),
)

/** opencode, by its `acp` command. Its models are named `provider/model`. */
export const opencode: AcpAgent = {
  configNames: ['.opencode', 'opencode.json', 'opencode.jsonc'],
  program: {
    executor: 'opencode',
    needs: {
      word: 'opencode',
      folders: ['~/.config/opencode', '~/.local/share/opencode', '~/.local/state/opencode'],
      hosts: ['opencode.ai', 'models.dev', 'api.anthropic.com', 'api.openai.com'],
      variables: ['OPENCODE_', 'OPENROUTER_', 'ANTHROPIC_', 'OPENAI_', 'GEMINI_', 'GROQ_', 'MISTRAL_', 'XAI_'],
    },
    program: 'opencode',
    places: (home) => [join(home, '.opencode', 'bin', 'opencode')],
    windowsProgram: ['opencode-ai', 'bin', 'opencode.exe'],
    installHint: 'Install opencode with `npm install -g opencode-ai` and run `opencode auth login` once.',
    signInHint: 'Run `opencode auth login` once to sign in.',
    // Without an account it has free models, and its settings may contain keys.
    signedIn: (env, home) =>
      hasFile([join(env['XDG_DATA_HOME'] ?? join(home, '.local', 'share'), 'opencode', 'auth.json')]) ? true : null,
  },
  args: (_run, own) => ['acp', ...own],
  refusedArgs: acpRefusedArgs({
    '--cwd': 'one',
    '--port': 'one',
    '--hostname': 'one',
    '--mdns': 'none',
    '--cors': 'many',
  }),
  defaultEnv: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  asking: { OPENCODE_PERMISSION: JSON.stringify(asksAll) },
  configuresViaProtocol: true,
  tellsLastRequest: () => true,
}

export const definition = defineAcpAgent(opencode)
