import { createExecutors } from '../agents/create-executors.ts'
import type { Git } from '../git/create-git.ts'
import { createScripts } from '../hooks/scripts/run-script.ts'
import type { AgentHomes } from '../ports/agent-homes.ts'
import type { Containment } from '../ports/containment.ts'
import type { Place } from '../ports/place.ts'

/** Returns this machine: its worktrees by git, its agents and its scripts, contained as it can. */
export function createLocalPlace({
  workspaceRoot,
  git,
  containment,
  homes,
}: {
  /** The folder below which worktrees are made. */
  readonly workspaceRoot: string
  readonly git: Pick<Git, 'place'>
  readonly containment: Containment
  readonly homes: AgentHomes
}): Place {
  return {
    workspaceRoot,
    ...git.place,
    runs: createExecutors({ containment, homes }),
    scripts: createScripts({ containment }),
    containment,
  }
}
