import { executorInfos, type ExecutorProfile } from '../../../src-shared/contract/executor-profiles.ts'
import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import type { AgentConfig } from '../../../src-shared/contract/projects.ts'
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

/** Describes what a project's script was denied, and what to do. */
export function deniedNote(
  denied: readonly Pick<Extract<TranscriptEntry, { type: 'denied' }>, 'what' | 'target'>[],
): string {
  const targets = denied.map(({ what, target }) => (what === 'host' ? `host ${target}` : `path ${target}`))
  return `Blocked by containment: ${targets.join(', ')}. If the script needs it, allow it in the project’s settings.`
}
