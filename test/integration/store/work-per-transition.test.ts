import { expect, test } from 'vitest'
import { openStore } from './open-store.ts'
import { explain, preparedOnce } from './query-plans.ts'

// A transition must cost the same however many tasks the project has, so each of its queries
// starts from one task's rows in an index.
const questions: [what: string, sql: RegExp, index: string][] = [
  ['the subtasks of a task', /FROM "tasks" WHERE parent_id = \?/, 'tasks_by_parent (parent_id=?)'],
  [
    'the rejections at each gate',
    /count\(\*\) FROM transitions/,
    'USING COVERING INDEX transitions_rejections (task_id=?)',
  ],
  ['the last transition', /"transitions" WHERE task_id = \? ORDER BY id DESC/, 'transitions_by_task (task_id=?)'],
  [
    'what a task waits for',
    /FROM dependencies WHERE task_id = \?/,
    'INDEX sqlite_autoindex_dependencies_1 (task_id=?)',
  ],
  [
    'who waits for a task',
    /FROM dependencies WHERE depends_on_id = \?/,
    'INDEX dependencies_by_target (depends_on_id=?)',
  ],
  ['the open executions of a task', /"executions" WHERE task_id = \? AND status IN/, 'executions_by_task (task_id=?)'],
  ['the comments of a task', /FROM "comments" WHERE task_id = \?/, 'comments_by_task (task_id=?)'],
  ['what was captured from a task', /FROM "knowledge" WHERE source_task_id = \?/, 'knowledge_by_task'],
  ['what the agents of a task are told', /FROM "knowledge_injections"/, 'sqlite_autoindex_knowledge_injections_1'],
]

test('starts every query of a transition from an index on its task', async () => {
  await using open = await openStore()
  const plans = explain(open.file, preparedOnce(open))
  for (const [what, sql, index] of questions) {
    const found = plans.filter(([text]) => sql.test(text)).map(([, plan]) => plan)
    expect(found, what).toEqual([expect.stringContaining(index)])
    expect(found.join('\n'), what).not.toContain('SCAN')
  }
})

test('reads a task’s first or last row from the end of an index, without sorting', async () => {
  await using open = await openStore()
  const plans = explain(open.file, preparedOnce(open))
  const sorted = (sql: RegExp) => plans.filter(([text, plan]) => sql.test(text) && plan.includes('TEMP B-TREE'))
  expect(sorted(/FROM "transitions" WHERE task_id/)).toEqual([])
  expect(sorted(/FROM "comments" WHERE task_id/)).toEqual([])
})
