import type { HomePlace } from '../../src-shared/contract/containment.ts'
import type { AgentId } from '../../src-shared/contract/ids.ts'
import type { AgentConfig } from '../../src-shared/contract/projects.ts'

/** The private homes that contained runs see in the place of the person's, one for each agent. */
export interface AgentHomes {
  /** Returns the folder of an agent's private home, which it makes. */
  folderOf(agent: AgentId): Promise<string>
  written(agent: AgentId, config: AgentConfig): Promise<readonly HomePlace[]>
  /**
   * Copies what runs wrote there to the person's home, unless that has it. Returns the path that runs must be allowed
   * to use it, or why it can't be kept.
   */
  keep(
    agent: AgentId,
    config: AgentConfig,
    path: string,
  ): Promise<{ readonly allowed: string } | { readonly problem: string }>
  /** Removes the private home. */
  remove(agent: AgentId): Promise<void>
}
