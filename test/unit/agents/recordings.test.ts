import { describe, expect, test } from 'vitest'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { TranscriptEntry as TranscriptEntrySchema } from '../../../src-shared/contract/executions.ts'
import type { AcpAgent } from '../../../src-main/agents/acp/acp-agent.ts'
import { acpProfile } from '../../../src-main/agents/acp/acp-profile.ts'
import type { AgentProfile } from '../../../src-main/agents/agent/agent-profile.ts'
import { anyAcpAgent } from '../../../src-main/agents/acp/definition.ts'
import { codex } from '../../../src-main/agents/codex/definition.ts'
import { copilot } from '../../../src-main/agents/copilot/definition.ts'
import { gemini } from '../../../src-main/agents/gemini/definition.ts'
import { opencode } from '../../../src-main/agents/opencode/definition.ts'
import { qwen } from '../../../src-main/agents/qwen/definition.ts'
import { play, recordingOf } from './play-recording.ts'

/** Describes an entry in one line. */
function brief(entry: TranscriptEntry): string {
  switch (entry.type) {
    case 'tool_call': {
      const change = entry.diff && `${entry.diff.old_text ?? 'new'} > ${entry.diff.new_text}`
      return [entry.action, entry.tool, entry.target, change]
        .filter((part) => part !== null)
        .join(' | ')
        .trim()
    }
    case 'tool_result':
      return `${entry.ok ? 'ok' : 'failed'}: ${entry.text.trim().split('\n').at(-1)}`
    case 'usage':
      return `usage: ${entry.input_tokens} in, ${entry.output_tokens} out, $${entry.cost_usd ?? '?'}`
    case 'denied':
      return `denied: ${entry.target}`
    default:
      return `${entry.type}: ${entry.text}`
  }
}

const commit = 'git add -A && git commit -qm Hello && git status -sb'
const greeting = 'greeting.txt | new > hello'

interface Case {
  readonly name: string
  readonly profile: AgentProfile
  readonly entries: readonly string[]
}

const overAcp = (name: string, agent: AcpAgent, entries: readonly string[]): Case => ({
  name,
  profile: acpProfile(agent),
  entries,
})

// Each wrote a file, committed it, called our MCP tool, ran a failing command and said goodbye.
const cases: readonly Case[] = [
  {
    name: 'codex',
    profile: codex,
    entries: [
      'message: I write it.',
      // Codex does not report what it writes.
      'write | apply_patch | greeting.txt',
      'ok: ',
      `run | shell | ${commit}`,
      'ok: ## svc/example',
      'mcp | svc/svc_note | from the agent',
      'ok: Noted: from the agent',
      'run | shell | exit 3',
      'failed: ',
      'message: All done.',
      'usage: 600 in, 120 out, $?',
    ],
  },
  overAcp('opencode', opencode, [
    'message: I write it.',
    `write | write | ${greeting}`,
    'ok: Wrote file successfully.',
    `run | bash | ${commit}`,
    'ok: ## svc/example',
    'mcp | svc_svc_note | from the agent',
    'ok: Noted: from the agent',
    'run | bash | exit 3',
    'failed: (no output)',
    'message: All done.',
    // It reports only the tokens of its last model call.
    'usage: 100 in, 20 out, $?',
  ]),
  overAcp('gemini', gemini, [
    'message: I write it.',
    `write | write_file | ${greeting}`,
    'ok: ',
    `run | run_shell_command | ${commit}`,
    // It reports neither the output nor the exit of a command.
    'ok: ',
    'mcp | mcp_svc_svc_note | from the agent',
    'ok: Noted: from the agent',
    'run | run_shell_command | exit 3',
    'ok: ',
    'message: All done.',
    'usage: 500 in, 100 out, $?',
  ]),
  overAcp('copilot', copilot, [
    'message: I write it.',
    `write | edit | ${greeting}`,
    'ok: Created file /somewhere/tree/greeting.txt with 6 characters',
    `run | scripted | ${commit}`,
    'ok: <shellId: 0 completed with exit code 0>',
    'mcp | svc-svc_note | from the agent',
    'ok: Noted: from the agent',
    'run | scripted | exit 3',
    'failed: <shellId: 1 completed with exit code 3>',
    'message: All done.',
    'usage: 500 in, 100 out, $?',
  ]),
  overAcp('qwen', qwen, [
    'message: I write it.',
    'usage: 100 in, 20 out, $?',
    `write | write_file | ${greeting}`,
    'ok: ',
    'usage: 100 in, 20 out, $?',
    `run | run_shell_command | ${commit}`,
    'ok: Process Group PGID: 20274',
    'usage: 100 in, 20 out, $?',
    'other | tool_search | svc_note',
    'ok: </functions>',
    'usage: 100 in, 20 out, $?',
    'mcp | mcp__svc__svc_note | from the agent',
    'ok: Noted: from the agent',
    'usage: 100 in, 20 out, $?',
    'run | run_shell_command | exit 3',
    'failed: Process Group PGID: 20297',
    'usage: 100 in, 20 out, $?',
    'message: All done.',
  ]),
  overAcp('claude-agent-acp', anyAcpAgent, [
    'message: I write it.',
    `write | Write | ${greeting}`,
    'ok: File created successfully at: /somewhere/tree/greeting.txt (file state is current in your context — no need to Read it back)',
    `run | Bash | ${commit}`,
    'ok: ## svc/example',
    'other | ToolSearch | select:mcp__svc__svc_note',
    'ok: Tool: mcp__svc__svc_note',
    'mcp | mcp__svc__svc_note | from the agent',
    'ok: Noted: from the agent',
    'run | Bash | exit 3',
    'failed: Exit code 3',
    'usage: 0 in, 0 out, $0.005600000000000001',
    'message: All done.',
    'usage: 600 in, 120 out, $0',
  ]),
]

describe.each(cases)('a recorded run of $name', ({ name, profile, entries }) => {
  const converse: AgentProfile['createSession'] = (run, listener) => profile.createSession(run, listener)

  test('becomes a readable transcript', async () => {
    const played = await play(recordingOf(name), converse)
    for (const entry of played.entries) TranscriptEntrySchema.parse(entry)
    expect(played.entries.map(brief)).toEqual(entries)
    expect(played.result).toMatchObject({ failed: false, conclusion: 'done', message: 'All done.' })
    expect(played.sessions).toEqual([played.result.session_id])
    // The entries add up to the usage of the run.
    const usages = played.entries.flatMap((entry) => (entry.type === 'usage' ? [entry] : []))
    const costs = usages.flatMap(({ cost_usd }) => cost_usd ?? [])
    const sum = {
      input_tokens: usages.reduce((all, one) => all + one.input_tokens, 0),
      output_tokens: usages.reduce((all, one) => all + one.output_tokens, 0),
      cost_usd: costs.length === 0 ? null : costs.reduce((all, one) => all + one, 0),
    }
    expect(sum).toMatchObject(played.result.usage ?? {})
  })

  test('reads the same for any chunking', async () => {
    const whole = await play(recordingOf(name), converse)
    const bytewise = await play(recordingOf(name), converse, undefined, (bytes) => {
      const cuts = []
      for (let from = 0; from < bytes.length; from += 7) cuts.push(bytes.subarray(from, from + 7))
      return cuts
    })
    expect(bytewise).toEqual(whole)
  })
})
