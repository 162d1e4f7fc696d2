/** What an agent may do without asking, from everything to the minimum. */
export const permissionPolicies = ['all', 'worktree', 'ask'] as const
export type PermissionPolicy = (typeof permissionPolicies)[number]

/** Which figures an agent shows, and when. */
export interface AgentFigures {
  /**
   * `named`: it reports the cost of its runs. `tokens`: it reports tokens, from which a known price gives the cost.
   * `told`: it may report the cost.
   */
  readonly cost: 'named' | 'tokens' | 'told'
  /** `turn`: after each request to its model. `run`: at its end only. */
  readonly seen: 'turn' | 'run'
  /** Whether its requests can be counted; `told`: if it reports them. */
  readonly turns: 'seen' | 'told'
}

/**
 * The properties of an agent type: its abilities and configuration. Code reads this record and never compares a
 * type's name. How an agent is started and read is in its folder below `src-main/agents`.
 */
export interface ExecutorInfo {
  /** Display name. */
  readonly name: string
  /** Description in a sentence. */
  readonly about: string
  /** `remote`: the agent runs elsewhere and claims, heartbeats and finishes over the API. */
  readonly location: 'local' | 'remote'
  /** `line`: the required command line to run. `path`: the program's path, if it is not found. */
  readonly command: 'line' | 'path' | null
  /** An example of the command. */
  readonly example: string | null
  readonly model: boolean
  readonly args: boolean
  readonly env: boolean
  /** Whether a reasoning effort can be set. */
  readonly effort: boolean
  /** Whether it can run in a terminal. */
  readonly terminal: boolean
  /** Whether it gets the MCP endpoint. */
  readonly mcp: boolean
  /** Whether it can resume an earlier session by ID. */
  readonly resumes: boolean
  /** When it reads messages that are sent while it runs; null if it never does. */
  readonly input: 'next_step' | 'turn_end' | null
  /** The figures that it shows of what a run uses. */
  readonly figures: AgentFigures
  /** Its environment variables that determine which account it uses. */
  readonly accountVariables: readonly string[]
  /** Policies that it can enforce; only `all` if it can't ask. */
  readonly permissions: readonly PermissionPolicy[]
}

/** A program on the service's machine that speaks the Agent Client Protocol. */
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
  // Over the protocol each message is a separate turn.
  input: 'turn_end',
  permissions: permissionPolicies,
  // The protocol has no figures of single requests, but shows what follows each.
  figures: { cost: 'tokens', seen: 'run', turns: 'seen' },
  accountVariables: ['HOME'],
} as const

const infos = {
  'claude-code': {
    ...acpProgram,
    accountVariables: [
      'HOME',
      'CLAUDE_CONFIG_DIR',
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'ANTHROPIC_BASE_URL',
    ],
    name: 'Claude Code',
    about: 'Anthropic’s agent.',
    example: '/opt/claude/claude',
    // The cost comes at the end of a turn; the tokens of each request give it before.
    figures: { cost: 'named', seen: 'turn', turns: 'seen' },
    input: 'next_step',
  },
  codex: {
    ...acpProgram,
    accountVariables: ['HOME', 'CODEX_HOME', 'OPENAI_API_KEY', 'CODEX_API_KEY'],
    name: 'Codex',
    about: 'OpenAI’s agent.',
    example: '/opt/codex/codex',
    figures: { cost: 'tokens', seen: 'turn', turns: 'seen' },
    input: null,
    permissions: ['all'],
  },
  opencode: {
    ...acpProgram,
    accountVariables: ['HOME', 'XDG_DATA_HOME', 'OPENCODE_CONFIG', 'OPENCODE_API_KEY', 'OPENROUTER_API_KEY'],
    name: 'opencode',
    about: 'An open agent for any model; models are named `provider/model`.',
    example: '/opt/opencode/opencode',
    // The cost is 0 for a model whose price opencode does not know, and the tokens are those of the last request.
    figures: { cost: 'tokens', seen: 'run', turns: 'seen' },
  },
  gemini: {
    ...acpProgram,
    accountVariables: ['HOME', 'GEMINI_CLI_HOME', 'GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_CLOUD_PROJECT'],
    name: 'Gemini CLI',
    about: 'Google’s agent.',
    example: '/opt/gemini/gemini',
    effort: false,
  },
  copilot: {
    ...acpProgram,
    accountVariables: ['HOME', 'COPILOT_HOME', 'XDG_CONFIG_HOME', 'COPILOT_GITHUB_TOKEN', 'GH_TOKEN', 'GITHUB_TOKEN'],
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
    figures: { cost: 'tokens', seen: 'turn', turns: 'seen' },
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
    // Only if the agent reports its session.
    resumes: true,
    input: null,
    figures: { cost: 'told', seen: 'turn', turns: 'told' },
    accountVariables: ['HOME'],
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
    figures: { cost: 'told', seen: 'turn', turns: 'told' },
    accountVariables: [],
    permissions: ['all'],
  },
} as const satisfies Record<string, ExecutorInfo>

export type ExecutorProfile = keyof typeof infos

/** The agent types in the order in which clients offer them. */
export const executorInfos: { readonly [P in ExecutorProfile]: ExecutorInfo } = infos

export const executorProfiles = Object.keys(infos) as ExecutorProfile[]

/** The type that clients suggest if nothing is known about the machine. */
export const defaultExecutor: ExecutorProfile = 'claude-code'

/** Runs any program that speaks the Agent Client Protocol, like the demo's. */
export const protocolExecutor = 'acp' satisfies ExecutorProfile

/** The type of an agent that another machine hosts, whatever it is there. */
export const hostedExecutor: ExecutorProfile = 'external'

/** Performs an execution: an agent of some type, or a person. */
export type Worker = ExecutorProfile | 'person'

/** Returns whether its work is finished over the API, by an external agent or a person. */
export function isFinishedOverApi(executor: Worker): boolean {
  return executor === 'person' || executorInfos[executor].location === 'remote'
}

/** Returns when it reads messages that are sent while it runs; null if it never does. */
export function inputOf(executor: Worker): ExecutorInfo['input'] {
  return executor === 'person' ? null : executorInfos[executor].input
}

/** Returns why an agent of this type can't be created without a command; null if it can. */
export function missingCommand(
  executor: ExecutorProfile,
  config: { readonly command?: string | undefined },
): string | null {
  const { command, name } = executorInfos[executor]
  if (command !== 'line' || config.command?.trim()) return null
  return `Say which command it is: an agent of the kind ${name} is started by one.`
}
