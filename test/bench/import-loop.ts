import SqliteDatabase from 'better-sqlite3'
import { v7 } from 'uuid'
import { searchWords } from '../../src-main/store/search-words.ts'
import { serveParent } from './child.ts'

/**
 * The floor of an import: a loop that fetches page after page and inserts each issue as a task and a link, a
 * page in one transaction, by prepared statements on a copy of the product's own database. No limits, no
 * rules, no events, and nobody else who wants to use the database meanwhile.
 */
export type ImportLoopRequest =
  | { readonly kind: 'open'; readonly database: string }
  | { readonly kind: 'import'; readonly first_page: string; readonly project_id: string; readonly repo_id: string }
  | { readonly kind: 'count' }

interface Issue {
  readonly number: number
  readonly title: string
  readonly body: string | null
  readonly labels: readonly { readonly name: string }[]
  readonly html_url: string
}

let loop: ReturnType<typeof open> | null = null

serveParent<ImportLoopRequest, number>(async (request) => {
  if (request.kind === 'open') loop = open(request.database)
  if (!loop) throw new Error('Not open.')
  if (request.kind === 'import') await loop.run(request.first_page, request.project_id, request.repo_id)
  return loop.count()
})

function open(file: string) {
  const database = new SqliteDatabase(file)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  database.pragma('foreign_keys = ON')
  // The triggers of the full-text index call it.
  database.function('search_words', { deterministic: true }, (title, description) =>
    searchWords(`${String(title)}\n${description === null ? '' : String(description)}`),
  )
  const task = database.prepare(
    `INSERT INTO tasks (id, project_id, number, repo_id, title, description, status, version, entry_barrier, review_config,
       roles, labels, priority, position, archived, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, 'backlog', 1, 0, '{"ci_steps":[],"review_prompt":null}', '{}', ?, 0, ?, 0, ?, ?)`,
  )
  const link = database.prepare(
    'INSERT INTO external_links (global_id, project_id, task_id, number, url, created_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const insert = database.transaction((issues: readonly Issue[], project_id: string, repo_id: string) => {
    const now = new Date().toISOString()
    for (const { number, title, body, labels, html_url } of issues) {
      const id = v7()
      const names = JSON.stringify(labels.map((label) => label.name))
      task.run(id, project_id, number, repo_id, title, body, names, number, now, now)
      link.run(`hosted:floor:${project_id}#${number}`, project_id, id, number, html_url, now)
    }
  })
  return {
    run: async (first_page: string, project_id: string, repo_id: string) => {
      for (let url: string | undefined = first_page; url !== undefined;) {
        const response: Response = await fetch(url)
        insert.immediate((await response.json()) as Issue[], project_id, repo_id)
        url = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
      }
    },
    count: () => (database.prepare('SELECT count(*) AS n FROM external_links').get() as { n: number }).n,
  }
}
