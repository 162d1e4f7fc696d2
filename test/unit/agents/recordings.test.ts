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
      return [
        `usage: ${entry.input_tokens} in, ${entry.output_tokens} out, $${entry.cost_usd ?? '?'}`,
        ...(entry.assumed ? ['assumed'] : []),
        ...(entry.partial ? ['partial'] : []),
        ...(entry.model === undefined ? [] : [entry.model]),
        ...(entry.turns === undefined ? [] : [entry.turns]),
      ].join(', ')
    case 'denied':
      return `denied: ${entry.target}`
    case 'home_written':
      return `wrote: ${entry.paths.join(', ')}`
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
    'usage: 20000 in, 500 out, $?, assumed, 1',
    `run | bash | ${commit}`,
    'ok: ## svc/example',
    'usage: 20000 in, 500 out, $?, assumed, 1',
    'mcp | svc_svc_note | from the agent',
    'ok: Noted: from the agent',
    'usage: 20000 in, 500 out, $?, assumed, 1',
    'run | bash | exit 3',
    'failed: (no output)',
    'usage: 20000 in, 500 out, $?, assumed, 1',
    'message: All done.',
    // It reports only the tokens of its last model call.
    'usage: 100 in, 20 out, $?, partial, 1',
  ]),
  overAcp('gemini', gemini, [
    'message: I write it.',
    `write | write_file | ${greeting}`,
    'ok: ',
    'usage: 20000 in, 500 out, $?, assumed, 1',
    `run | run_shell_command | ${commit}`,
    // It reports neither the output nor the exit of a command.
    'ok: ',
    'usage: 20000 in, 500 out, $?, assumed, 1',
    'mcp | mcp_svc_svc_note | from the agent',
    'ok: Noted: from the agent',
    'usage: 20000 in, 500 out, $?, assumed, 1',
    'run | run_shell_command | exit 3',
    'ok: ',
    'usage: 20000 in, 500 out, $?, assumed, 1',
    'message: All done.',
    'usage: 500 in, 100 out, $?, 1',
  ]),
  overAcp('copilot', copilot, [
    'message: I write it.',
    `write | edit | ${greeting}`,
    'ok: Created file /somewhere/tree/greeting.txt with 6 characters',
    'usage: 8889 in, 500 out, $?, assumed, 1',
    `run | scripted | ${commit}`,
    'ok: <shellId: 0 completed with exit code 0>',
    'usage: 8948 in, 500 out, $?, assumed, 1',
    'mcp | svc-svc_note | from the agent',
    'ok: Noted: from the agent',
    'usage: 8993 in, 500 out, $?, assumed, 1',
    'run | scripted | exit 3',
    'failed: <shellId: 1 completed with exit code 3>',
    'usage: 9047 in, 500 out, $?, assumed, 1',
    'message: All done.',
    'usage: 500 in, 100 out, $?, 1',
  ]),
  overAcp('qwen', qwen, [
    'message: I write it.',
    'usage: 100 in, 20 out, $?, 1',
    `write | write_file | ${greeting}`,
    'ok: ',
    'usage: 100 in, 20 out, $?, 1',
    `run | run_shell_command | ${commit}`,
    'ok: Process Group PGID: 20274',
    'usage: 100 in, 20 out, $?, 1',
    'other | tool_search | svc_note',
    'ok: </functions>',
    'usage: 100 in, 20 out, $?, 1',
    'mcp | mcp__svc__svc_note | from the agent',
    'ok: Noted: from the agent',
    'usage: 100 in, 20 out, $?, 1',
    'run | run_shell_command | exit 3',
    'failed: Process Group PGID: 20297',
    'usage: 100 in, 20 out, $?, 1',
    'message: All done.',
  ]),
  overAcp('claude-agent-acp', anyAcpAgent, [
    'message: I write it.',
    `write | Write | ${greeting}`,
    'ok: File created successfully at: /somewhere/tree/greeting.txt (file state is current in your context — no need to Read it back)',
    'usage: 101 in, 500 out, $?, assumed, claude-opus-5-5, 1',
    `run | Bash | ${commit}`,
    'ok: ## svc/example',
    'usage: 101 in, 500 out, $?, assumed, claude-opus-5-5, 1',
    'other | ToolSearch | select:mcp__svc__svc_note',
    'ok: Tool: mcp__svc__svc_note',
    'usage: 101 in, 500 out, $?, assumed, claude-opus-5-5, 1',
    'mcp | mcp__svc__svc_note | from the agent',
    'ok: Noted: from the agent',
    'usage: 101 in, 500 out, $?, assumed, claude-opus-5-5, 1',
    'run | Bash | exit 3',
    'failed: Exit code 3',
    'usage: 101 in, 500 out, $?, assumed, claude-opus-5-5, 1',
    'usage: 0 in, 0 out, $0.005600000000000001, claude-opus-5-5',
    'message: All done.',
    'usage: 600 in, 120 out, $0, claude-opus-5-5, 1',
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
    // The entries add up to the usage of the run, without what was assumed until it was told.
    const told = played.entries.flatMap((entry) => (entry.type === 'usage' ? [entry] : []))
    const usages = told.filter(({ assumed }) => assumed !== true)
    const isPart = usages.some(({ partial }) => partial === true)
    const costs = usages.flatMap(({ cost_usd }) => cost_usd ?? [])
    const sum = {
      input_tokens: isPart ? null : usages.reduce((all, one) => all + one.input_tokens, 0),
      output_tokens: isPart ? null : usages.reduce((all, one) => all + one.output_tokens, 0),
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
