import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ExecutorProfile } from '../../src-shared/contract/executor-profiles.ts'
import type { PinnedAgentName } from './agent-binaries.ts'

/** A real agent as a person sets it up who has read no more than its own documentation. */
export interface TableAgent {
  readonly name: string
  readonly program: PinnedAgentName
  readonly executor: ExecutorProfile
  /** Of `command` and `acp`. */
  readonly command?: string
  readonly model?: string
  /** The variables that point it at a model server. */
  readonly env?: (url: string) => Readonly<Record<string, string>>
  /** Its settings, by their path below the home folder, if variables can't say it. */
  readonly settings?: (url: string) => Readonly<Record<string, string>>
  /** A command of its own that writes its settings. */
  readonly configure?: (url: string) => string
}

export const apiKey = 'scripted'
const model = 'fake-1'
const prompt = '"$(cat "$SVC_PROMPT_FILE")"'
const asRoot = process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}

const claude = (url: string) => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: apiKey,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  ...asRoot,
})

const codexSettings = (url: string) => {
  const provider = ['name = "scripted"', `base_url = "${url}/v1"`, 'wire_api = "responses"', 'env_key = "MODEL_KEY"']
  // A model that it knows gets all of its tools.
  const lines = ['model = "gpt-5.5-codex"', 'model_provider = "scripted"', '[model_providers.scripted]', ...provider]
  return { '.codex/config.toml': lines.join('\n') }
}

/** The settings of opencode and of the programs that descend from it. */
const opencode = (url: string): string => {
  const options = { baseURL: `${url}/v1`, apiKey }
  const models = { [model]: { name: model, tool_call: true, limit: { context: 100_000, output: 8_000 } } }
  const scripted = { npm: '@ai-sdk/openai-compatible', name: 'scripted', options, models }
  const named = { model: `scripted/${model}`, small_model: `scripted/${model}` }
  return JSON.stringify({ share: 'disabled', autoupdate: false, ...named, provider: { scripted } })
}

const cline = {
  program: 'cline',
  configure: (url: string) => `cline auth -p openai-compatible -k ${apiKey} -m ${model} -b ${url}/v1`,
} as const

const kilo = {
  program: 'kilo',
  env: () => ({ KILO_DISABLE_MODELS_FETCH: '1' }),
  settings: (url: string) => ({ '.config/kilo/kilo.json': opencode(url) }),
} as const

const kimi = {
  program: 'kimi',
  env: (url: string) => ({
    KIMI_MODEL_NAME: model,
    KIMI_MODEL_API_KEY: apiKey,
    KIMI_MODEL_PROVIDER_TYPE: 'openai',
    KIMI_MODEL_BASE_URL: `${url}/v1`,
  }),
} as const

const nanocoder = {
  program: 'nanocoder',
  settings: (url: string) => {
    const provider = { name: 'scripted', baseUrl: `${url}/v1`, apiKey, models: [model] }
    return { '.config/nanocoder/agents.config.json': JSON.stringify({ nanocoder: { providers: [provider] } }) }
  },
} as const

const grok = {
  program: 'grok',
  settings: (url: string) => {
    const own = [`model = "${model}"`, `base_url = "${url}/v1"`, `api_key = "${apiKey}"`]
    const lines = ['[models]', 'default = "scripted"', '[model.scripted]', ...own, 'api_backend = "chat_completions"']
    return { '.grok/config.toml': lines.join('\n') }
  },
} as const

const reasonix = {
  program: 'reasonix',
  settings: (url: string) => {
    const named = ['name = "scripted"', 'kind = "openai"', `base_url = "${url}/v1"`, `model = "${model}"`]
    const lines = ['config_version = 10', 'default_model = "scripted"', '[permissions]', 'mode = "allow"']
    const config = [...lines, '[[providers]]', ...named, 'api_key_env = "MODEL_KEY"'].join('\n')
    return { '.reasonix/config.toml': config, '.reasonix/.env': `MODEL_KEY=${apiKey}\n` }
  },
} as const

export const tableAgents: readonly TableAgent[] = [
  { name: 'Claude Code', program: 'claude-code', executor: 'claude-code', model, env: claude },
  {
    name: 'Codex',
    program: 'codex',
    executor: 'codex',
    env: () => ({ MODEL_KEY: apiKey }),
    settings: codexSettings,
  },
  {
    name: 'opencode',
    program: 'opencode',
    executor: 'opencode',
    env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    settings: (url) => ({ '.config/opencode/opencode.json': opencode(url) }),
  },
  {
    name: 'Gemini CLI',
    program: 'gemini',
    executor: 'gemini',
    model: 'gemini-2.5-pro',
    env: (url) => ({ GEMINI_API_KEY: apiKey, GOOGLE_GEMINI_BASE_URL: url }),
  },
  {
    name: 'Copilot CLI',
    program: 'copilot',
    executor: 'copilot',
    model,
    env: (url) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: apiKey,
      COPILOT_OFFLINE: 'true',
    }),
  },
  {
    name: 'Qwen Code',
    program: 'qwen',
    executor: 'qwen',
    env: (url) => ({ OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: model }),
  },
  {
    name: 'Claude over ACP',
    program: 'claude-agent-acp',
    executor: 'acp',
    command: 'claude-agent-acp',
    env: claude,
  },
  {
    name: 'Codex over ACP',
    program: 'codex-acp',
    executor: 'acp',
    command: 'codex-acp',
    env: () => ({ MODEL_KEY: apiKey, INITIAL_AGENT_MODE: 'agent-full-access' }),
    settings: codexSettings,
  },
  {
    name: 'pi',
    program: 'pi',
    executor: 'command',
    command: `pi -p --mode json --provider scripted --model ${model}`,
    settings: (url) => {
      const scripted = { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey, models: [{ id: model }] }
      return { '.pi/agent/models.json': JSON.stringify({ providers: { scripted } }) }
    },
  },
  {
    name: 'Continue',
    program: 'cn',
    executor: 'command',
    command: `cn -p --auto ${prompt}`,
    settings: (url) => {
      const own = [`model: ${model}`, `apiBase: ${url}/v1`, `apiKey: ${apiKey}`, 'roles: [chat]']
      const lines = [`  - name: ${model}`, 'provider: openai', ...own, 'capabilities: [tool_use]'].join('\n    ')
      return { '.continue/config.yaml': `name: scripted\nversion: 0.0.1\nschema: v1\nmodels:\n${lines}\n` }
    },
  },
  { ...cline, name: 'Cline', executor: 'command', command: `cline --json --auto-approve true ${prompt}` },
  { ...cline, name: 'Cline over ACP', executor: 'acp', command: 'cline --acp' },
  { ...kilo, name: 'Kilo', executor: 'command', command: `kilo run --auto --format json ${prompt}` },
  { ...kilo, name: 'Kilo over ACP', executor: 'acp', command: 'kilo acp' },
  {
    ...nanocoder,
    name: 'Nanocoder',
    executor: 'command',
    command: `nanocoder --mode yolo --trust-directory run ${prompt}`,
  },
  { ...nanocoder, name: 'Nanocoder over ACP', executor: 'acp', command: 'nanocoder --acp' },
  { ...grok, name: 'Grok', executor: 'command', command: 'grok --always-approve --prompt-file "$SVC_PROMPT_FILE"' },
  { ...grok, name: 'Grok over ACP', executor: 'acp', command: 'grok agent --always-approve stdio' },
  { ...kimi, name: 'Kimi Code', executor: 'command', command: `kimi -p ${prompt}` },
  { ...kimi, name: 'Kimi Code over ACP', executor: 'acp', command: 'kimi acp' },
  { ...reasonix, name: 'Reasonix', executor: 'command', command: `reasonix run ${prompt}` },
  { ...reasonix, name: 'Reasonix over ACP', executor: 'acp', command: 'reasonix acp' },
]

/** Writes an agent's settings into a home folder. */
export async function writeSettings({ settings }: TableAgent, home: string, url: string): Promise<void> {
  for (const [name, text] of Object.entries(settings?.(url) ?? {})) {
    const path = join(home, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
}
