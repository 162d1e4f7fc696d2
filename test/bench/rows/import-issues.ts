import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import type { Project } from '../../../src-shared/contract/projects.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { startHelper } from '../child.ts'
import type { ImportLoopRequest } from '../import-loop.ts'
import type { IssueServerRequest } from '../issue-server.ts'
import { startProduct } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const issueCount = { full: 10_000, quick: 250 } as const
const secret = 'COPSE_BENCH_TRACKER_TOKEN'

/**
 * A first sync: `POST …/integration/sync` on a project without tasks, until it answers. The floor
 * (import-loop.ts) fetches the same pages of the same server (issue-server.ts, a process of its own) and
 * inserts them into a copy of the same database. Each round imports into a project of its own.
 */
export const importIssues: BenchRow = {
  name: 'import-10000-issues',
  unit: 'issues/s',
  better: 'higher',
  goal: 0.7,
  rounds: { full: { warmUp: 1, measured: 7 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare({ scale, build, say }: Setting): Promise<Contest> {
  await using opened = new AsyncDisposableStack()
  const issues = issueCount[scale]
  say(`  writing out ${issues} issues`)
  const server = opened.use(
    startHelper<IssueServerRequest, { url: string }>(new URL('../issue-server.ts', import.meta.url)),
  )
  const { url } = await server.ask({ issues })
  process.env[secret] = 'bench-token'
  const repository = opened.use(await createTestRepository())
  const product = opened.use(await startProduct(build))
  const folder = await mkdtemp(join(tmpdir(), 'copse-bench-import-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const { client } = product
  const makeProject = () => client.call('projects.create', { name: 'Bench', repo_path: repository.path })

  const forFloor = await makeProject()
  const copy = join(folder, 'floor.db')
  const database = new SqliteDatabase(join(product.dataDir, 'copse.db'), { readonly: true })
  database.prepare('VACUUM INTO ?').run(copy)
  database.close()
  const loop = opened.use(startHelper<ImportLoopRequest, number>(new URL('../import-loop.ts', import.meta.url)))
  await loop.ask({ kind: 'open', database: copy })

  const done = { product: 0, floor: 0 }
  const perSecond = (since: number) => issues / ((performance.now() - since) / 1_000)
  const owned = opened.move()
  return {
    product: async () => {
      const { id: project_id } = await makeProject()
      await client.call('integrations.create', {
        project_id,
        platform: 'hosted',
        base_url: url,
        token_secret_ref: secret,
        poll_interval_secs: 86_400,
        owner: 'bench',
        repo: `round-${++done.product}`,
      })
      const since = performance.now()
      const counts = await client.call('integrations.sync', { project_id })
      const value = perSecond(since)
      if (counts.imported !== issues) throw new Error(`Of ${issues} issues ${counts.imported} were imported.`)
      return value
    },
    floor: async () => {
      const project_id = `${forFloor.id.slice(0, -4)}${String(++done.floor).padStart(4, '0')}`
      copyProject(copy, forFloor, project_id)
      const first_page = `${url}/repos/bench/floor/issues?per_page=100`
      const since = performance.now()
      await loop.ask({ kind: 'import', first_page, project_id, repo_id: forFloor.repos[0]?.id ?? '' })
      return perSecond(since)
    },
    verify: async () => {
      const count = await loop.ask({ kind: 'count' })
      if (count !== done.floor * issues) throw new Error(`The floor made ${count} of ${done.floor * issues} links.`)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** A project of its own for the floor's round, too. */
function copyProject(file: string, { id }: Project, copy_id: string): void {
  const database = new SqliteDatabase(file)
  try {
    database
      .prepare(
        `INSERT INTO projects (id, name, key, owner_id, workflow_definition, settings, created_at, updated_at)
         SELECT ?, name, ?, owner_id, workflow_definition, settings, created_at, updated_at FROM projects WHERE id = ?`,
      )
      .run(copy_id, copy_id, id)
  } finally {
    database.close()
  }
}
