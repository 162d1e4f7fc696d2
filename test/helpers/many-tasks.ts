import type SqliteDatabase from 'better-sqlite3'

const words = 'login form password reset email queue worker cache index board review merge branch commit test deploy'
const vocabulary = words.split(' ')

export interface ManyTasks {
  readonly project_id: string
  readonly count: number
  /** The size of each execution's prompt. */
  readonly promptBytes: number
  /** In which state the nth is; done by default. */
  readonly stateOf?: (index: number) => string
}

/**
 * Writes tasks into a database, each with two moves, an execution, a review and a comment; a fifth of the done ones is
 * archived.
 */
export function addManyTasks(
  client: SqliteDatabase.Database,
  { project_id, count, promptBytes, stateOf = () => 'done' }: ManyTasks,
): void {
  const at = '2026-01-01T00:00:00.000Z'
  const prompt = 'Do as the task says, and say what you did. '.repeat(Math.ceil(promptBytes / 43))
  const repo = client.prepare('SELECT id FROM repos WHERE project_id = ?').pluck().get(project_id)
  const last = client.prepare<[string], number>('SELECT last FROM task_numbers WHERE project_id = ?').pluck()
  const before = last.get(project_id) ?? 0
  const task = client.prepare(
    `INSERT INTO tasks (id, project_id, number, repo_id, title, description, status, version, entry_barrier, review_config, roles,
       labels, priority, position, archived, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 3, 0, '{"ci_steps":[],"review_prompt":null}', '{}', '[]', 0, ?, ?, ?, ?)`,
  )
  const transition = client.prepare(
    `INSERT INTO transitions (id, task_id, from_state, to_state, triggered_by, rejection, hooks, created_at)
     VALUES (?, ?, ?, ?, 'system', 0, '[]', ?)`,
  )
  const execution = client.prepare(
    `INSERT INTO executions (id, task_id, project_id, role, agent_id, executor, status, dispatched, prompt, overrides, usage,
       created_at) VALUES (?, ?, ?, 'coder', ?, 'command', 'succeeded', 1, ?, '{}', ?, ?)`,
  )
  const review = client.prepare(
    `INSERT INTO reviews (id, task_id, status, attempt_number, ci_steps, step_results, verdicts, created_at)
     VALUES (?, ?, 'passed', 1, '[]', '[]', '[]', ?)`,
  )
  const comment = client.prepare(
    `INSERT INTO comments (id, task_id, author, body, created_at, updated_at)
     VALUES (?, ?, '{"type":"operator"}', 'Looks right.', ?, ?)`,
  )
  const id = (kind: number, index: number) =>
    `019b0000-${String(kind).padStart(4, '0')}-7000-8000-${index.toString(16).padStart(12, '0')}`
  const word = (index: number) => vocabulary[index % vocabulary.length] ?? ''
  const add = (index: number) => {
    const task_id = id(1, index)
    const title = `${word(index)} ${word(index * 7 + 1)} number ${index}`
    const description = Array.from({ length: 30 }, (_, at) => word(index * 13 + at * (index % 11))).join(' ')
    const status = stateOf(index)
    const archived = status === 'done' && index % 5 === 0 ? 1 : 0
    task.run(task_id, project_id, before + index + 1, repo, title, description, status, index, archived, at, at)
    transition.run(id(2, 2 * index), task_id, 'backlog', 'in_progress', at)
    transition.run(id(2, 2 * index + 1), task_id, 'in_progress', 'done', at)
    const usage = JSON.stringify({ input_tokens: 1_000 + index, output_tokens: 50, cost_usd: 0.25 })
    execution.run(id(3, index), task_id, project_id, id(9, index % 20), prompt, usage, at)
    review.run(id(4, index), task_id, at)
    comment.run(id(5, index), task_id, at, at)
  }
  for (let from = 0; from < count; from += 5_000) {
    client.transaction(() => {
      for (let index = from; index < Math.min(count, from + 5_000); index++) add(index)
    })()
  }
  client
    .prepare('INSERT INTO task_numbers VALUES (?, ?) ON CONFLICT (project_id) DO UPDATE SET last = excluded.last')
    .run(project_id, before + count)
}
