import type { Review } from '../../src-shared/contract/reviews.ts'
import { ago, id, ids } from './task-panel-ids.ts'

/** The output of a failing test run, with colours. */
export const failing = `\u001b[90m RUN  v3.2.4 /ws/5fd07a\u001b[39m
 \u001b[32m✓\u001b[39m test/lease.test.ts \u001b[2m(14 tests) 341ms\u001b[22m
 \u001b[32m✓\u001b[39m test/delivery/retry.test.ts \u001b[2m(18 tests) 207ms\u001b[22m
 \u001b[31m✗\u001b[39m test/worker.race.test.ts \u001b[2m(6 tests, \u001b[31m1 failed\u001b[39m) 2.41s
   \u001b[31m→ two workers, one event: exactly one request leaves\u001b[39m
     AssertionError: expected \u001b[32m1\u001b[39m request, received \u001b[31m2\u001b[39m

 Test Files  \u001b[1m\u001b[31m1 failed\u001b[39m\u001b[22m \u001b[2m|\u001b[22m \u001b[32m41 passed\u001b[39m
npm test exited 1 after 48.3 s
`

/** Three attempts, newest first: one to decide, one that CI rejected, one that the reviewer rejected. */
export function reviews(now: number): Review[] {
  const steps = ['npm run lint', 'npm run typecheck', 'npm test']
  const step = (command: string, exit_code: number, ms: number, output_tail = 'ok\n') => ({
    command,
    exit_code,
    duration_ms: ms,
    output_tail,
    log_name: `ci-${command.replaceAll(' ', '-')}.log`,
  })
  return [
    {
      id: id(73),
      task_id: ids.task,
      status: 'running',
      attempt_number: 3,
      ci_steps: steps,
      step_results: [step('npm run lint', 0, 9_100), step('npm run typecheck', 0, 21_600), step('npm test', 0, 47_900)],
      head: null,
      tree: null,
      changed_by_steps: [],
      notes: [],
      empty: false,
      ignored: [],
      config_changes: [],
      verdicts: [
        {
          by: `agent:${ids.agent}`,
          verdict: 'pass',
          head_commit: null,
          feedback:
            'The lease is taken by one conditional `UPDATE … RETURNING`.\n\n- `src/store/sqlite.ts:142`: not blocking.',
          created_at: ago(11, now),
        },
      ],
      created_at: ago(14, now),
      finished_at: null,
    },
    {
      id: id(72),
      task_id: ids.task,
      status: 'failed',
      attempt_number: 2,
      ci_steps: steps,
      step_results: [
        step('npm run lint', 0, 9_000),
        step('npm run typecheck', 0, 21_200),
        step('npm test', 1, 48_300, failing),
      ],
      head: null,
      tree: null,
      changed_by_steps: [],
      notes: [],
      empty: false,
      ignored: [],
      config_changes: [],
      verdicts: [],
      created_at: ago(40, now),
      finished_at: ago(38, now),
    },
    {
      id: id(71),
      task_id: ids.task,
      status: 'failed',
      attempt_number: 1,
      ci_steps: steps,
      step_results: steps.map((command) => step(command, 0, 8_000)),
      head: null,
      tree: null,
      changed_by_steps: [],
      notes: [],
      empty: false,
      ignored: [],
      config_changes: [],
      verdicts: [
        {
          by: `agent:${ids.agent}`,
          verdict: 'fail',
          head_commit: null,
          feedback: 'Releases the lease too early.',
          created_at: ago(61, now),
        },
      ],
      created_at: ago(70, now),
      finished_at: ago(61, now),
    },
  ]
}
