/** What an agent may do without asking anybody, from everything to as little as possible. */
export const permissionPolicies = ['all', 'worktree', 'ask'] as const
export type PermissionPolicy = (typeof permissionPolicies)[number]

/**
 * What clients know of a type of agent: what it can do and what its configuration may say. Code asks this record,
 * never for a type by its name. How an agent is started and read is in its folder below `src-main/agents`.
 */
export interface ExecutorInfo {
  /** Its name for people. */
  readonly name: string
  /** What it is, in a sentence. */
  readonly about: string
  /** `remote`: it runs elsewhere, claims, heartbeats and finishes over the API. */
  readonly location: 'local' | 'remote'
  /** `line`: the command line that is run, which it needs. `path`: where its program lies, if it is not found. */
  readonly command: 'line' | 'path' | null
  /** An example of such a command. */
  readonly example: string | null
  readonly model: boolean
  readonly args: boolean
  readonly env: boolean
  /** It can be told how hard to think. */
  readonly effort: boolean
  /** It can run in a terminal. */
  readonly terminal: boolean
  /** It is given the MCP endpoint. */
  readonly mcp: boolean
  /** It can take up an earlier session by its id. */
  readonly resumes: boolean
  /** When it reads what a person writes while it runs; null when it never does. */
  readonly input: 'next_step' | 'turn_end' | null
  /** `named`: it says what its runs cost. `tokens`: it says its tokens, so that a known price tells. `told`: it may say it. */
  readonly cost: 'named' | 'tokens' | 'told'
  /** Variables of its own that tell which account it uses. */
  readonly accountVariables: readonly string[]
  /** What it can be held to; `all` alone when it can't ask. */
  readonly permissions: readonly PermissionPolicy[]
}

/** A program on the machine of the service that is spoken to over the Agent Client Protocol. */
const acpProgram = {
  location: 'local',
  command: 'path',
  model: true,
  args: true,
  env: true,
  effort: true,
  terminal: false,
  mcp: true,
  resumes: true,
  // Over the protocol a message is a turn of its own.
  input: 'turn_end',
  permissions: permissionPolicies,
  cost: 'tokens',
  accountVariables: [],
} as const

const infos = {
  'claude-code': {
    ...acpProgram,
    accountVariables: [
      'CLAUDE_CONFIG_DIR',
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'ANTHROPIC_BASE_URL',
    ],
    name: 'Claude Code',
    about: 'Anthropic’s agent.',
    example: '/opt/claude/claude',
    cost: 'named',
    input: 'next_step',
  },
  codex: {
    ...acpProgram,
    accountVariables: ['CODEX_HOME', 'OPENAI_API_KEY', 'CODEX_API_KEY'],
    name: 'Codex',
    about: 'OpenAI’s agent.',
    example: '/opt/codex/codex',
    input: null,
    permissions: ['all'],
  },
  opencode: {
    ...acpProgram,
    accountVariables: ['XDG_DATA_HOME', 'OPENCODE_CONFIG', 'OPENCODE_API_KEY', 'OPENROUTER_API_KEY'],
    name: 'opencode',
    about: 'An open agent for any model; models are named `provider/model`.',
    example: '/opt/opencode/opencode',
    cost: 'named',
  },
  gemini: {
    ...acpProgram,
    accountVariables: ['GEMINI_CLI_HOME', 'GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_CLOUD_PROJECT'],
    name: 'Gemini CLI',
    about: 'Google’s agent.',
    example: '/opt/gemini/gemini',
    effort: false,
  },
  copilot: {
    ...acpProgram,
    accountVariables: ['COPILOT_HOME', 'XDG_CONFIG_HOME', 'COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'],
    name: 'Copilot CLI',
    about: 'GitHub’s agent.',
    example: '/opt/copilot/copilot',
  },
  qwen: {
    ...acpProgram,
    accountVariables: ['HOME', 'OPENAI_API_KEY', 'DASHSCOPE_API_KEY', 'OPENAI_BASE_URL'],
    name: 'Qwen Code',
    about: 'Alibaba’s agent.',
    example: '/opt/qwen/qwen',
    effort: false,
  },
  acp: {
    ...acpProgram,
    accountVariables: ['HOME', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'CLAUDE_CONFIG_DIR', 'CODEX_HOME'],
    name: 'ACP agent',
    about: 'Any agent that speaks the Agent Client Protocol.',
    command: 'line',
    example: 'npx -y @agentclientprotocol/claude-agent-acp',
  },
  command: {
    name: 'Command',
    about: 'Any command that works in a folder and exits. It reads the prompt from standard input; exit 0 means done.',
    location: 'local',
    command: 'line',
    example: './scripts/fix.sh',
    model: false,
    args: true,
    env: true,
    effort: false,
    terminal: true,
    mcp: false,
    // As far as it names its session.
    resumes: true,
    input: null,
    cost: 'told',
    accountVariables: [],
    permissions: ['all'],
  },
  external: {
    name: 'External agent',
    about: 'A program of yours that runs elsewhere: it claims, works and finishes over the API.',
    location: 'remote',
    command: null,
    example: null,
    model: false,
    args: false,
    env: false,
    effort: false,
    terminal: false,
    mcp: true,
    resumes: false,
    input: null,
    cost: 'told',
    accountVariables: [],
    permissions: ['all'],
  },
} as const satisfies Record<string, ExecutorInfo>

export type ExecutorProfile = keyof typeof infos

/** The types of agent, in the order in which clients offer them. */
export const executorInfos: { readonly [P in ExecutorProfile]: ExecutorInfo } = infos

export const executorProfiles = Object.keys(infos) as ExecutorProfile[]

/** What clients suggest where nothing is known of the machine. */
export const defaultExecutor: ExecutorProfile = 'claude-code'

/** Runs a plain shell script. */
export const scriptExecutor: ExecutorProfile = 'command'

/** What an agent that another machine hosts counts as, whatever it is there. */
export const hostedExecutor: ExecutorProfile = 'external'

/** Who does the work of an execution: an agent of some type, or a person. */
export type Worker = ExecutorProfile | 'person'

/** Its work is finished over the API, by an agent that runs elsewhere or by a person. */
export function isFinishedOverApi(executor: Worker): boolean {
  return executor === 'person' || executorInfos[executor].location === 'remote'
}

/** When it reads what a person writes while it runs; null when it never does. */
export function inputOf(executor: Worker): ExecutorInfo['input'] {
  return executor === 'person' ? null : executorInfos[executor].input
}

/** Why an agent of this type can't be made so: the command that it runs is missing. Null when it can. */
export function missingCommand(
  executor: ExecutorProfile,
  config: { readonly command?: string | undefined },
): string | null {
  const { command, name } = executorInfos[executor]
  if (command !== 'line' || config.command?.trim()) return null
  return `Say which command it is: an agent of the kind ${name} is started by one.`
}
