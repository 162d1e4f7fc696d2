import { nextTime, projectById, type MergeRequest, type Pipeline, type Project, type State } from './state.ts'

/** Looks at the branches: pushes, and a target that moved. */
export async function look(state: State, project: Project, pull: MergeRequest): Promise<void> {
  if (pull.state !== 'opened') return
  const source = projectById(state, pull.source.project)
  const sha = await state.git.head(source.path, pull.source.branch)
  const base = await state.git.head(project.path, pull.target)
  if (sha === null || base === null || (sha === pull.sha && base === pull.base)) return
  if (sha !== pull.sha) {
    // A push calls auto-merge off, and takes it from its train.
    pull.autoMerge = false
    pull.car = null
    pull.updated_at = nextTime(state)
  }
  pull.sha = sha
  pull.base = base
  pull.status = 'checking'
  pull.testReads = 0
}

/** Tests for conflicts, which begins when somebody looks and takes its time. */
export async function testConflicts(state: State, project: Project, pull: MergeRequest): Promise<void> {
  const isTested = pull.status !== 'checking' && pull.status !== 'preparing'
  if (isTested || ++pull.testReads < state.conflictTestReads) return
  const conflicts = await state.git.conflicts(mergeOf(state, project, pull, 'merge'))
  pull.status = conflicts ? 'cannot_be_merged' : 'can_be_merged'
}

export function mergeOf(state: State, project: Project, pull: MergeRequest, method: 'merge' | 'squash' | 'rebase') {
  const repository = projectById(state, pull.source.project).path
  return {
    repository: project.path,
    target: pull.target,
    head: { repository, branch: pull.source.branch, commit: pull.sha },
    method,
    title: pull.title,
  }
}

export const isDraft = (title: string) => /^\s*(\[draft\]|\(draft\)|draft:)/i.test(title)

/** The pipeline that counts: the newest of its head. */
export function headPipeline(state: State, pull: MergeRequest): Pipeline | null {
  const all = state.projects.flatMap(({ pipelines }) => pipelines)
  return all.findLast(({ head }) => head === pull.sha) ?? null
}

const pending = ['created', 'pending', 'preparing', 'scheduled', 'waiting_for_resource', 'running']

export function pipelineStatus(state: State, { id, project }: Pipeline): string {
  const { jobs, statuses } = projectById(state, project)
  const own = jobs.filter(({ pipeline, isRetried }) => pipeline === id && !isRetried)
  const all = [
    ...own.filter(({ allowFailure }) => !allowFailure).map(({ status }) => status),
    ...statuses.filter(({ pipeline }) => pipeline === id).map(({ status }) => status),
  ]
  if (all.some((status) => pending.includes(status))) return 'running'
  if (all.includes('failed')) return 'failed'
  if (all.includes('canceled')) return 'canceled'
  return all.includes('manual') ? 'manual' : 'success'
}

/** The first of GitLab's checks that doesn't pass. */
export async function detailedStatus(state: State, project: Project, pull: MergeRequest): Promise<string> {
  if (pull.state !== 'opened') return 'not_open'
  if (pull.status === 'preparing' || pull.status === 'checking') return pull.status
  if (isDraft(pull.title)) return 'draft_status'
  const pipeline = headPipeline(state, pull)
  if (project.mustSucceed) {
    if (pipeline === null) return 'ci_must_pass'
    const status = pipelineStatus(state, pipeline)
    if (status === 'running') return 'ci_still_running'
    if (status !== 'success') return 'ci_must_pass'
  }
  const threads = pull.discussions.flatMap(({ notes }) => notes)
  if (project.mustResolve && threads.some(({ resolvable, resolved }) => resolvable && !resolved)) {
    return 'discussions_not_resolved'
  }
  if (pull.approvals.size < project.approvalsRequired) return 'not_approved'
  if ([...pull.reviewers.values()].includes('requested_changes')) return 'requested_changes'
  if (pull.status === 'cannot_be_merged') return 'conflict'
  const base = await state.git.mergeBase(project.path, pull.base, pull.sha)
  return project.mergeMethod === 'ff' && base !== pull.base ? 'need_rebase' : 'mergeable'
}

export async function complete(state: State, project: Project, pull: MergeRequest, squash: boolean): Promise<void> {
  const isFast = project.mergeMethod === 'ff'
  const commit = await state.git.merge(mergeOf(state, project, pull, squash ? 'squash' : isFast ? 'rebase' : 'merge'))
  if (squash) pull.squashCommit = commit
  if (!isFast) pull.mergeCommit = commit
  pull.state = 'merged'
  pull.autoMerge = false
  pull.car = null
  pull.updated_at = nextTime(state)
}
