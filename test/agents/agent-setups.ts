import type { ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'
import { agentBinary } from './agent-binaries.ts'
import type { PinnedAgentName } from './agent-binaries.ts'
import type { AgentBench } from './agent-bench.ts'

/** A real agent, set up for the model server of a bench. */
export interface AgentSetup {
  /** For the names of tests. */
  readonly name: string
  readonly executor: ExecutorProfile
  configure(bench: AgentBench): Promise<AgentConfig>
}

const model = 'fake-1'
const key = 'scripted'

async function configOf(
  bench: AgentBench,
  agent: PinnedAgentName,
  env: Readonly<Record<string, string>>,
  more: AgentConfig = {},
): Promise<AgentConfig> {
  return { command: await agentBinary(agent), ...more, env: { ...bench.env, ...env } }
}

export const claudeCode: AgentSetup = {
  name: 'Claude Code',
  executor: 'claude-code',
  configure: (bench) => configOf(bench, 'claude-code', {}, { model }),
}

/** Every agent but Claude Code, which has a suite of its own. */
export const agentSetups: readonly AgentSetup[] = [
  {
    name: 'Codex',
    executor: 'codex',
    configure: async (bench) => {
      const home = bench.env['HOME'] ?? ''
      const provider = ['name = "scripted"', `base_url = "${bench.model.url}/v1"`, 'wire_api = "responses"']
      const lines = ['model_provider = "scripted"', '[model_providers.scripted]', ...provider, 'env_key = "MODEL_KEY"']
      await writeInto(join(home, '.codex', 'config.toml'), lines.join('\n'))
      // A model that it knows gets all of its tools.
      return await configOf(bench, 'codex', { MODEL_KEY: key }, { model: 'gpt-5.5-codex' })
    },
  },
  {
    name: 'opencode',
    executor: 'opencode',
    configure: async (bench) => {
      const options = { baseURL: `${bench.model.url}/v1`, apiKey: key }
      const models = { [model]: { name: model, tool_call: true, limit: { context: 100_000, output: 8_000 } } }
      const scripted = { npm: '@ai-sdk/openai-compatible', name: 'scripted', options, models }
      const config = { share: 'disabled', small_model: `scripted/${model}`, provider: { scripted } }
      const env = { OPENCODE_CONFIG_CONTENT: JSON.stringify(config), OPENCODE_DISABLE_MODELS_FETCH: '1' }
      return await configOf(bench, 'opencode', env, { model: `scripted/${model}` })
    },
  },
  {
    name: 'Gemini CLI',
    executor: 'gemini',
    configure: async (bench) => {
      const env = { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: bench.model.url }
      return await configOf(bench, 'gemini', env, { model: 'gemini-2.5-pro' })
    },
  },
  {
    name: 'Copilot CLI',
    executor: 'copilot',
    configure: async (bench) => {
      const provider = { COPILOT_PROVIDER_BASE_URL: `${bench.model.url}/v1`, COPILOT_PROVIDER_API_KEY: key }
      return await configOf(bench, 'copilot', { ...provider, COPILOT_OFFLINE: 'true' }, { model })
    },
  },
  {
    name: 'Qwen Code',
    executor: 'qwen',
    configure: async (bench) => {
      const env = { OPENAI_API_KEY: key, OPENAI_BASE_URL: `${bench.model.url}/v1`, OPENAI_MODEL: model }
      return await configOf(bench, 'qwen', env)
    },
  },
  {
    name: 'Claude over ACP',
    executor: 'acp',
    configure: async (bench) => {
      const asRoot = process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}
      return await configOf(bench, 'claude-agent-acp', { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ...asRoot })
    },
  },
]

async function writeInto(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
