import type { Refusal } from '../../src-shared/contract/errors.ts'
import type { AgentId, ExecutionId, TaskId } from '../../src-shared/contract/ids.ts'
import { lacksOf, needsPerson, type HeldRules } from '../domain/access/authority.ts'
import { levelOf, rulesOfRun } from '../core/authority.ts'
import type { Ground } from '../core/ground.ts'

/** On whose word tasks go on. */
export interface Authority {
  /** Returns what a run's new task is held to; null if the run is not contained. */
  rulesOf(run: ExecutionId): HeldRules | null
  /** Returns why an agent may not start on a run's word; null if it may. */
  refusal(run: ExecutionId, agent: AgentId): Refusal | null
  /** Holds a task to the containment of the run that asks something of it. Returns a function that takes it back. */
  hold(task: TaskId, run: ExecutionId): () => void
  /** A person asks: whatever starts on the task starts on their word. Returns a function that takes it back. */
  free(task: TaskId): () => void
}

export function createAuthority(context: Ground): Authority {
  const { feed, places } = context
  const { read } = context.store
  const rulesOf = (run: ExecutionId) => rulesOfRun(context, read, run)
  const put = (id: TaskId, held_to: HeldRules | null): void => {
    feed.commit((tx) => {
      const task = tx.tasks.get(id)
      if (task) tx.tasks.put({ ...task, held_to })
    })
  }
  /** Returns a function that sets it back. */
  const set = (id: TaskId, held_to: HeldRules | null): (() => void) => {
    const before = read.tasks.get(id)?.held_to ?? null
    if (JSON.stringify(before) === JSON.stringify(held_to)) return () => undefined
    put(id, held_to)
    return () => {
      put(id, before)
    }
  }
  return {
    rulesOf,
    refusal: (run, id) => {
      const [rules, agent] = [rulesOf(run), read.agents.get(id)]
      if (rules === null || agent === null) return null
      const lacks = lacksOf(levelOf(places.here, agent), agent.config, rules)
      return lacks.length === 0 ? null : needsPerson(agent, lacks)
    },
    hold: (id, run) => {
      const [rules, before] = [rulesOf(run), read.tasks.get(id)?.held_to ?? null]
      return set(id, rules === null || (before !== null && !isWithin(rules, before)) ? before : rules)
    },
    free: (id) => set(id, null),
  }
}

/** Returns whether rules allow nothing that others don't. */
const isWithin = ({ level, hosts, read, write }: HeldRules, others: HeldRules): boolean =>
  lacksOf(level, { allowed_hosts: [...hosts], extra_paths: { read: [...read], write: [...write] } }, others).length ===
  0
