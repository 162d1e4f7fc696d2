import { openOutbox } from '../outbox.ts'
import type { BenchRow } from '../row.ts'
import { raceTransitions, type Field } from './transitions-per-second.ts'

const sizes = {
  // A round is a whole circuit of all tasks: only one of its four transitions takes git's work.
  full: { tasks: 96, connections: 8, requests: 384, wave: 96 },
  quick: { tasks: 3, connections: 1, requests: 12, wave: 3 },
} as const

/** Every one of them brings hooks. Only the review starts processes: git's, to know which files it judges. */
const circuit = ['review', 'in_progress', 'blocked', 'in_progress'] as const

/** What the timeline of each of these transitions says once its hooks have run, in their order. */
const outcomesOf: Readonly<Record<(typeof circuit)[number], string>> = {
  review: 'before_enter run_ci_steps ok, on_enter dispatch_role_agent skipped',
  in_progress: 'before_enter knowledge-inject skipped, on_enter dispatch_role_agent skipped',
  blocked: 'on_enter publish_task_blocked ok',
}

/**
 * The same race as `transitions-per-second` round the states of the default workflow that a task can enter
 * again and again: every transition brings all its hooks. The worktree is looked at, knowledge looked for, the
 * review opened and stamped, the barrier cleared, the role's holder (a person, or nobody) left to it, the block
 * published, and each outcome kept in the timeline. A task moves on once its hooks are done, and a round is
 * over when the last hook is. The hooks of
 * `merging`, `done` and `cancelled` run once in a task's life and are git's work; `claim-to-agent-start` and
 * its like measure that. The floor still only writes the transition.
 */
export const transitionsWithHooks: BenchRow = {
  name: 'transitions-with-hooks',
  unit: 'transitions/s',
  better: 'higher',
  // No floor does git's work, which is most of it: this only tells when it becomes much worse.
  goal: 0.01,
  rounds: { full: { warmUp: 1, measured: 5 }, quick: { warmUp: 1, measured: 2 } },
  prepare: ({ scale, build }) => raceTransitions({ build, ...sizes[scale], circuit, field: hooked }),
}

const hooked: Field = (product) => {
  const outbox = openOutbox(product.dataDir)
  let before: ReadonlyMap<string, number> = new Map()
  return {
    enter: async (task_id) => {
      const { version } = await product.client.call('tasks.get', { task_id })
      await product.client.call('tasks.transition', { task_id, status: 'todo', version })
      // A person at work starts no process.
      await product.client.call('tasks.claim', { task_id })
    },
    ready: async () => {
      await outbox.emptied()
      before = outbox.outcomes()
    },
    settle: () => outbox.emptied(),
    verify: (made) => {
      const after = outbox.outcomes()
      let whole = 0
      for (const state of new Set(circuit)) {
        const key = `${state}: ${outcomesOf[state]}`
        const ran = (after.get(key) ?? 0) - (before.get(key) ?? 0)
        if (ran === 0) throw new Error(`No transition into ${state} ran all its hooks: ${JSON.stringify([...after])}`)
        whole += ran
      }
      if (whole !== made) {
        throw new Error(`${whole} of ${made} transitions ran all their hooks: ${JSON.stringify([...after])}`)
      }
    },
    [Symbol.dispose]: () => outbox[Symbol.dispose](),
  }
}
