import { executorInfos, type ExecutorProfile } from '../../../src-shared/contract/executor-profiles.ts'
import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import type { AgentConfig } from '../../../src-shared/contract/projects.ts'
import { isTelemetry } from '../../../src-shared/contract/telemetry-hosts.ts'
import { invalidInput } from '../refusal.ts'

interface ContainedAgent {
  readonly executor: ExecutorProfile
  readonly daemon_id: string | null
  readonly config: Pick<AgentConfig, 'containment'>
}

/** Returns whether Copse starts the agent, so that it can contain it. */
export const isContainable = ({ executor, daemon_id }: Omit<ContainedAgent, 'config'>): boolean =>
  daemon_id === null && executorInfos[executor].location === 'local'

/** Returns why an agent can't be contained as its configuration says; null when it can. */
export function checkContainment(agent: ContainedAgent): Refusal | null {
  const { containment = 'none' } = agent.config
  if (containment === 'none' || isContainable(agent)) return null
  const message = 'This agent runs outside Copse, which can’t contain it. Leave its containment out.'
  return invalidInput('config.containment', message)
}

type Denied = Pick<Extract<TranscriptEntry, { type: 'denied' }>, 'what' | 'target'>

/** Describes what a project's script was denied, and what to do; null if that is nothing or telemetry. */
export function deniedNote(denied: readonly Denied[]): string | null {
  const targets = namesOf(denied)
  if (targets.length === 0) return null
  return `Blocked by containment: ${targets.join(', ')}. If the script needs it, allow it in the project’s settings.`
}

/** The maximum of named things in a sentence. */
const maxNamed = 5

/** Describes that a failed run was contained, what it missed, and what to do. */
export function containedNote(denied: readonly Denied[]): string {
  const targets = namesOf(denied)
  if (targets.length === 0) return 'It ran contained, and nothing was seen to be blocked.'
  const rest = targets.length > maxNamed ? `, and ${targets.length - maxNamed} more` : ''
  const missed = targets.slice(0, maxNamed).join(', ')
  return `It ran contained, without ${missed}${rest}. If the agent needs it, allow it in the agent’s settings.`
}

const namesOf = (denied: readonly Denied[]): readonly string[] => [
  ...new Set(denied.filter((one) => !isTelemetry(one)).map(({ what, target }) => `${what} ${target}`)),
]
