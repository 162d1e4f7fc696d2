import { hostProblem, localPort } from '../../../src-shared/contract/allowed-hosts.ts'
import { isTelemetry } from '../../../src-shared/contract/telemetry-hosts.ts'
import type { Denial } from '../../ports/containment.ts'
import type { AgentRequest, ExecutionRun } from '../../ports/executors.ts'
import { permissionOptions } from './permissions.ts'

/** How often a run may ask, because it may try a million names. */
const maxAsked = 3

export interface HostQuestions {
  /** Hosts that were asked about before and not allowed, by agent; they are not asked about again. */
  readonly refused: Set<string>
  /** Lets the run reach the host from now on. */
  readonly allow: (host: string) => void
}

/**
 * Returns what asks the agent's owner when the run is kept from a host for the first time, one host after the other.
 * The answer is for the next tries: no connection waits for it.
 */
export function askingForHosts(
  { ask, agent_id, onHostAllowed }: Pick<ExecutionRun, 'ask' | 'agent_id' | 'onHostAllowed'>,
  { refused, allow }: HostQuestions,
): (denial: Denial) => void {
  let asked = 0
  let last = Promise.resolve()
  const decide = async (host: string): Promise<void> => {
    const answer = await ask?.(requestFor(host), { signal: new AbortController().signal })
    const kind = answer?.option?.kind
    if (kind === 'reject_once') refused.add(`${agent_id ?? ''} ${host}`)
    if (kind !== 'allow_once' && kind !== 'allow_always') return
    allow(host)
    if (kind === 'allow_always') onHostAllowed?.(host)
  }
  return ({ what, target, count }) => {
    // A port of this machine needs a way in that can't be made while the run is on.
    const canBeAllowed = what === 'host' && hostProblem(target) === null && localPort(target) === null
    const isNew = count === 1 && !refused.has(`${agent_id ?? ''} ${target}`) && !isTelemetry({ what, target })
    if (!ask || !canBeAllowed || !isNew || asked >= maxAsked) return
    asked += 1
    last = last.then(() => decide(target)).catch(() => undefined)
  }
}

function requestFor(host: string): AgentRequest {
  return {
    kind: 'permission',
    text: `Wants to reach ${host}, which its containment blocks`,
    tool: 'network',
    action: 'fetch',
    target: host,
    detail: null,
    diff: null,
    options: permissionOptions('Allow for this run', 'Allow for this agent'),
    multiple: false,
    takes_text: false,
    owner_only: true,
  }
}
