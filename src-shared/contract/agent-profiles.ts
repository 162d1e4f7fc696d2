import { z } from 'zod'
import { TranscriptEntry, Usage } from './executions.ts'
import type { AgentConfig, ExecutorProfile } from './projects.ts'

/** What the configuration of an agent may say. */
export interface ProfileFields {
  readonly name: string
  /** Who that is, in a sentence. */
  readonly about: string
  /** `line`: the command line that is run, which it needs. `path`: where its program lies, if it is not found. */
  readonly command: 'line' | 'path' | null
  /** What such a command looks like. */
  readonly example: string | null
  readonly model: boolean
  readonly args: boolean
  readonly env: boolean
}

const program = { command: 'path', model: true, args: true, env: true } as const

/** The fields of each profile; effort and permissions stand in `executorCapabilities`. */
export const profileFields: { readonly [P in ExecutorProfile]: ProfileFields } = {
  'claude-code': { ...program, name: 'Claude Code', about: 'Anthropic’s agent.', example: '/opt/claude/claude' },
  codex: { ...program, name: 'Codex', about: 'OpenAI’s agent.', example: '/opt/codex/codex' },
  opencode: {
    ...program,
    name: 'opencode',
    about: 'An open agent for any model; models are named `provider/model`.',
    example: '/opt/opencode/opencode',
  },
  gemini: { ...program, name: 'Gemini CLI', about: 'Google’s agent.', example: '/opt/gemini/gemini' },
  copilot: { ...program, name: 'Copilot CLI', about: 'GitHub’s agent.', example: '/opt/copilot/copilot' },
  qwen: { ...program, name: 'Qwen Code', about: 'Alibaba’s agent.', example: '/opt/qwen/qwen' },
  acp: {
    name: 'ACP agent',
    about: 'Any agent that speaks the Agent Client Protocol.',
    command: 'line',
    example: 'npx -y @agentclientprotocol/claude-agent-acp',
    model: true,
    args: true,
    env: true,
  },
  command: {
    name: 'Command',
    about: 'Any command that works in a folder and exits. It reads its prompt on standard input; exit 0 means done.',
    command: 'line',
    example: './scripts/fix.sh',
    model: false,
    args: true,
    env: true,
  },
  external: {
    name: 'External agent',
    about: 'A program of yours that runs elsewhere: it claims, works and finishes over the API.',
    command: null,
    example: null,
    model: false,
    args: false,
    env: false,
  },
}

/** Why an agent of this kind can't be made so: the command that it runs is missing. Null when it can. */
export function missingCommand(executor: ExecutorProfile, config: Pick<AgentConfig, 'command'>): string | null {
  const { command, name } = profileFields[executor]
  if (command !== 'line' || config.command?.trim()) return null
  return `Say which command it is: an agent of the kind ${name} is started by one.`
}

/** A run that only shows whether an agent works. */
export const AgentTest = z
  .object({
    ok: z.boolean(),
    started: z.boolean().describe('Its program was found and began.'),
    answered: z.boolean().describe('It said something: it is signed in, and its model answers.'),
    ended: z.boolean().describe('It ended by itself and called that a success.'),
    message: z.string().nullable().describe('Its last words, or why it failed, in a sentence for people.'),
    exit_code: z.int().nullable(),
    duration_ms: z.int(),
    usage: Usage.nullable(),
    entries: z.array(TranscriptEntry).describe('What it said and did; the first 200 things.'),
  })
  .meta({ id: 'AgentTest' })
export type AgentTest = z.infer<typeof AgentTest>
