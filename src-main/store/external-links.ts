import type { ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import type { ExternalLinkRecord } from '../ports/issue-trackers.ts'
import type { Database } from './database-type.ts'
import { cachedQuery } from './query-cache.ts'
import { externalLinks } from './schema/integrations.ts'
import type { ExternalLinkQueries } from '../ports/task-queries.ts'

interface Row {
  readonly global_id: string
  readonly project_id: string
  readonly task_id: string | null
  readonly number: number
  readonly url: string
  readonly created_at: string
}

const columns = 'global_id, project_id, task_id, number, url, created_at'

/** Creates the queries of tasks' issues, which run for every task shown and every issue read. */
export function createExternalLinkQueries(db: Database): ExternalLinkQueries {
  const { $client } = db
  const ofTask = $client.prepare<[string], Row>(`SELECT ${columns} FROM external_links WHERE task_id = ?`)
  // Rows of a deleted project are removed bit by bit and count as gone.
  const isDeleted = 'EXISTS (SELECT 1 FROM projects WHERE id = external_links.project_id AND deletion IS NOT NULL)'
  const get = $client.prepare<[string], Row>(
    `SELECT ${columns} FROM external_links WHERE lower(global_id) = lower(?) AND NOT ${isDeleted}`,
  )
  const takeOver = $client.prepare<[string]>(
    `DELETE FROM external_links WHERE lower(global_id) = lower(?) AND ${isDeleted}`,
  )
  const add = $client.prepare<[string, string, string | null, number, string, string]>(
    `INSERT INTO external_links (${columns}) VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const remove = $client.prepare<[string]>('DELETE FROM external_links WHERE lower(global_id) = lower(?)')
  return {
    ofTask: cachedQuery(db, externalLinks, (task_id: TaskId) => recordOf(ofTask.get(task_id))),
    get: (global_id) => recordOf(get.get(global_id)),
    add: (link) => {
      takeOver.run(link.global_id)
      add.run(link.global_id, link.project_id, link.task_id, link.number, link.url, link.created_at)
    },
    remove: (global_id) => void remove.run(global_id),
  }
}

function recordOf(row: Row | undefined): ExternalLinkRecord | null {
  if (!row) return null
  return { ...row, project_id: row.project_id as ProjectId, task_id: row.task_id as TaskId | null }
}
