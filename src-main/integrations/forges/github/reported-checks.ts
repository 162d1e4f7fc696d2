import type { ForgeChecks } from '../../../ports/forges.ts'
import { unlessRefused } from '../unless-refused.ts'
import { part, type Github } from './github.ts'
import { CheckRun, CommitStatus, Job, newest, withoutJobs, WorkflowRun, type Reported } from './reported-check.ts'

interface ReportedChecks {
  readonly seen: ForgeChecks['seen']
  readonly reported: readonly Reported[]
}

/**
 * Reads what was reported for a commit, each kind by itself: a token that may not read one still reads the others. A
 * fine-grained token can't be given check runs; those of Actions are found as jobs, those of other apps are not.
 */
export async function readReported(github: Github, commit: string): Promise<ReportedChecks> {
  const runs = await readCheckRuns(github, commit)
  const jobs = runs === null ? await unlessRefused(['forbidden', 'not_found'], () => readJobs(github, commit)) : null
  const statuses = await unlessRefused(['forbidden'], () => readStatuses(github, commit))
  const kinds = [runs ?? jobs, statuses].filter((kind) => kind !== null)
  const isAll = runs !== null && statuses !== null
  return { seen: isAll ? 'all' : kinds.length > 0 ? 'some' : 'none', reported: newest(kinds.flat()) }
}

const hourMs = 3_600_000

/** null: the token may not; it isn't asked for again with each poll. */
async function readCheckRuns(github: Github, commit: string): Promise<readonly Reported[] | null> {
  const path = `/commits/${part(commit)}/check-runs`
  return github.recall(
    'refused check runs',
    (runs) => (runs === null ? hourMs : 0),
    () => unlessRefused(['forbidden'], () => github.list(path, CheckRun, { field: 'check_runs' })),
  )
}

async function readStatuses(github: Github, commit: string): Promise<readonly Reported[]> {
  // Only the latest of each name.
  return github.list(`/commits/${part(commit)}/status`, CommitStatus, { field: 'statuses' })
}

/** A push starts one run a workflow; more belong to earlier commits. */
const maxRuns = 50

async function readJobs(github: Github, commit: string): Promise<readonly Reported[]> {
  const query = { head_sha: commit }
  const runs = await github.list('/actions/runs', WorkflowRun, { query, pages: 1, field: 'workflow_runs' })
  const found: Reported[] = []
  for (const run of runs.slice(0, maxRuns)) found.push(...(await jobsOf(github, run)))
  return found
}

const dayMs = 86_400_000

/** The jobs of a run that has ended stay as they are: another attempt is asked for by another key. */
async function jobsOf(github: Github, run: WorkflowRun): Promise<readonly Reported[]> {
  const { id, run_attempt, updated_at, status } = run
  const jobs = await github.recall(
    `jobs ${id} ${run_attempt ?? ''} ${updated_at ?? ''}`,
    () => (status === 'completed' ? dayMs : 0),
    () => github.list(`/actions/runs/${part(id)}/jobs`, Job, { query: { filter: 'latest' }, field: 'jobs' }),
  )
  return jobs.length > 0 ? jobs : withoutJobs(run)
}
