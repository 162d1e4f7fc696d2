import SqliteDatabase from 'better-sqlite3'
import Fastify from 'fastify'
import { v7 } from 'uuid'
import { serveParent } from './child.ts'

/**
 * The floor of transitions per second: a bare Fastify route that parses the JSON body and writes what a
 * transition writes (the task's row, its audit row, the event with the whole task), in one better-sqlite3
 * transaction of prepared statements on a copy of the product's own database: the same tables, indexes,
 * pragmas and row sizes. No rights, no rules, no schema, and only the columns that change.
 */
export type FloorRequest =
  | { readonly kind: 'start'; readonly database: string }
  | { readonly kind: 'count' }
  | { readonly kind: 'stop' }

export interface FloorAnswer {
  readonly url: string
  /** Transitions written down so far. */
  readonly transitions: number
}

interface Row {
  readonly id: string
  readonly project_id: string
  readonly status: string
}

let server: Awaited<ReturnType<typeof start>> | null = null

serveParent<FloorRequest, FloorAnswer>(async (request) => {
  if (request.kind === 'start') server = await start(request.database)
  if (!server) throw new Error('Not started.')
  const answer = { url: server.url, transitions: server.count() }
  if (request.kind === 'stop') await server.close()
  return answer
})

async function start(file: string) {
  const database = new SqliteDatabase(file)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  database.pragma('foreign_keys = ON')
  const move = createMove(database)
  const app = Fastify()
  app.post<{ Params: { id: string }; Body: { status: string; version: number } }>(
    '/api/v1/tasks/:id/transition',
    (request, reply) => reply.send({ task: move(request.params.id, request.body.status, request.body.version) }),
  )
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    count: () => (database.prepare('SELECT count(*) AS n FROM transitions').get() as { n: number }).n,
    close: async () => {
      await app.close()
      database.close()
    },
  }
}

function createMove(database: SqliteDatabase.Database) {
  const update = database.prepare<[string, number, string, string, number], Row>(
    `UPDATE tasks SET status = ?, version = ?, entry_barrier = 0, error_annotation = NULL, updated_at = ?
     WHERE id = ? AND version = ? RETURNING *`,
  )
  const audit = database.prepare(
    `INSERT INTO transitions
       (id, task_id, from_state, to_state, triggered_by, rejection, trigger_reason, hooks, created_at)
     VALUES (?, ?, ?, ?, ?, 0, NULL, '[]', ?)`,
  )
  const event = database.prepare(`INSERT INTO events (project_id, type, data) VALUES (?, 'task.transitioned', ?)`)
  // Where each task stands, so that the floor need not look.
  const standing = new Map(
    (database.prepare('SELECT id, status FROM tasks').all() as Row[]).map((task) => [task.id, task.status]),
  )
  const move = database.transaction((id: string, status: string, version: number): Row => {
    const now = new Date().toISOString()
    const task = update.get(status, version + 1, now, id, version)
    if (!task) throw new Error('No such task, or of another version.')
    const moved = { from_state: standing.get(id) ?? '', to_state: status, triggered_by: 'user:bench' }
    audit.run(v7(), id, moved.from_state, moved.to_state, moved.triggered_by, now)
    event.run(
      task.project_id,
      JSON.stringify({ project_id: task.project_id, task_id: id, task, ...moved, occurred_at: now }),
    )
    standing.set(id, status)
    return task
  })
  return (id: string, status: string, version: number) => move.immediate(id, status, version)
}
