import type { Usage } from '../../../src-shared/contract/executions.ts'
import type { AgentRun } from '../definition.ts'
import type { AgentSession, AgentSessionListener, RunResult } from '../agent/agent-profile.ts'
import { createLineFilter } from '../agent/filter-lines.ts'
import { createPermissions } from '../agent/permissions.ts'
import { claudeRunResult } from './conclude.ts'
import { createControl } from './control.ts'
import { createStreamReader } from './read-stream.ts'
import type { RunState } from './reduce-run-state.ts'
import { partOpening } from './stream-events.ts'

/**
 * Runs stream-json in both directions: every message is a line. Claude Code exits when its stdin is closed at the end
 * of a turn.
 */
export function converseWithClaude(run: AgentRun, listener: AgentSessionListener): AgentSession {
  const control = createControl({
    permissions: createPermissions(run, { tellsWhy: true }),
    cwd: run.cwd,
    send: (message) => listener.write(lineOf(message)),
  })
  const stream = createStreamReader(
    { ...listener, onControl: control.onMessage },
    { earlier: run.session_id === null ? null : (run.session_usage ?? null) },
  )
  return {
    push: stream.push,
    end: () => {
      stream.end()
      control.close()
    },
    // A prompt can't be delivered only if the process exited early, which its exit explains better.
    begin: (prompt) => void listener.write(userMessage(prompt, run.images)).catch(() => undefined),
    send: (text) => listener.write(userMessage(text)),
    result: (stderr) => resultOf(stream.facts(), run.session_id, stderr),
    // Whole messages follow their parts, which would fill the log many times over.
    logged: createLineFilter(partOpening, () => true),
  }
}

function resultOf(facts: RunState, asked: string | null, stderr: string): RunResult {
  // A session that no longer exists must not be resumed again.
  const lost = facts.result?.subtype === 'error_during_execution' && facts.api_error === null && !facts.acted
  const session_id = lost && facts.lastMessage === null ? null : (facts.session_id ?? asked)
  return {
    session_id,
    usage: usageOf(facts),
    failed: facts.unauthorized || facts.result?.failed === true,
    ...claudeRunResult(facts, stderr),
  }
}

/** An interrupted turn has the usage of its calls; its cost is unknown. */
function usageOf({ usage, spent }: RunState): Usage | null {
  if (spent.input_tokens + spent.output_tokens === 0) return usage
  return {
    input_tokens: (usage?.input_tokens ?? 0) + spent.input_tokens,
    output_tokens: (usage?.output_tokens ?? 0) + spent.output_tokens,
    cost_usd: null,
  }
}

const userMessage = (text: string, images: AgentRun['images'] = []): string => {
  const pictures = images.map(({ media_type, data_base64: data }) => ({
    type: 'image',
    source: { type: 'base64', media_type, data },
  }))
  return lineOf({ type: 'user', message: { role: 'user', content: [...pictures, { type: 'text', text }] } })
}

/**
 * Returns one line. Some line readers, Node's among them, also end lines at U+2028 and U+2029, which JSON does not
 * escape.
 */
function lineOf(message: object): string {
  const json = JSON.stringify(message)
  return `${json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`
}
