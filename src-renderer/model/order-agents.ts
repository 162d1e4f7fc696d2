import type { Agent, AgentSignIn } from '../../src-shared/contract/projects.ts'

/** What was found of an agent's program on the service's machine. */
export type FoundProgram = Pick<AgentSignIn, 'installed' | 'signed_in'>

/** The facts that order the agents in a choice. */
export interface AgentFacts {
  /** The IDs of agents that this device gave work, the last one first. */
  readonly usedHere: readonly string[]
  /** The IDs of agents that work in the project, the last one first. */
  readonly usedInProject: readonly string[]
  /** By agent ID; unchecked and remote agents are missing. */
  readonly found: ReadonlyMap<string, FoundProgram>
}

/**
 * Returns the agents in the order in which to offer them: last used here, last used in the project,
 * known to be signed in, by name. Agents that can't run are last.
 */
export function orderAgents<T extends Pick<Agent, 'id' | 'name'>>(agents: readonly T[], facts: AgentFacts): T[] {
  const rank = (ids: readonly string[], id: string) => (ids.includes(id) ? ids.indexOf(id) : ids.length)
  const keys = ({ id }: T): readonly number[] => [
    Number(!canRun(facts.found.get(id))),
    rank(facts.usedHere, id),
    rank(facts.usedInProject, id),
    Number(facts.found.get(id)?.signed_in !== true),
  ]
  return agents.toSorted((one, other) => {
    const others = keys(other)
    const difference = keys(one)
      .map((key, index) => key - (others[index] ?? 0))
      .find((by) => by !== 0)
    return difference ?? one.name.localeCompare(other.name)
  })
}

/** Returns whether nothing is known that keeps the agent from running. */
export function canRun(found: FoundProgram | undefined): boolean {
  return found === undefined || (found.installed && found.signed_in !== false)
}
