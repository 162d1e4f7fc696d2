import { randomUUID } from 'node:crypto'
import { basename, join } from 'node:path'
import type { RunnerId, TaskId } from '../../../src-shared/contract/ids.ts'
import type { JobSpec } from '../../../src-shared/contract/jobs.ts'
import { afterwards } from '../../../src-shared/lang/afterwards.ts'
import type { Job, JobWork } from '../../jobs/job.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { listJobFiles } from './job-files.ts'
import type { Mirror, TaskWorktree } from './mirror.ts'

/** A job that a runner is given. */
interface JobRequest extends Pick<JobWork, 'onLog' | 'onAsk' | 'onLink'> {
  readonly kind: JobSpec['kind']
  /** The folder here that it works in. */
  readonly cwd: string
  readonly spec: Pick<JobSpec, 'execution' | 'agent' | 'prompt' | 'env' | 'session_id' | 'steps' | 'containment'>
  /** Files beside the worktree that it needs. */
  readonly files: readonly string[]
}

export interface StartedJob extends Pick<Job, 'taken' | 'ended' | 'input' | 'stop' | 'isLinkLost'> {
  isOver(): boolean
}

export type StartJob = (request: JobRequest) => Promise<StartedJob>

export interface StartJobParts {
  readonly jobs: Jobs
  readonly mirror: Mirror
  readonly runner: { readonly id: RunnerId; readonly grace_seconds: number }
  /** Starts what carries a job, where each has its own. */
  readonly carry?: (job: Pick<Job, 'id' | 'ended'>) => void
  /** Returns the task's worktree at a path; null for one that belongs to no task, such as a landing's. */
  readonly worktreeAt: (path: string) => TaskWorktree | null
  /** Returns the repository and commit of a folder that belongs to no task. */
  readonly scratchAt: (path: string, options: Cancellable) => Promise<Pick<TaskWorktree, 'repo_path' | 'base_commit'>>
  readonly userOf: (
    path: string,
    options: Cancellable,
  ) => Promise<{ readonly name: string; readonly email: string } | null>
  /** The set-up commands of a new folder there. */
  readonly setUpOf: (path: string) => readonly string[]
  /** Files that were copied into a worktree and that git does not bring. */
  readonly copiesOf: (path: string, options: Cancellable) => Promise<readonly string[]>
}

const max_snapshot_file_mb = 50
const max_push_mb = 1024

/** Returns how jobs of a runner are started: with the folder as it is here, and its work brought back. */
export function createStartJob(parts: StartJobParts): StartJob {
  const { jobs, mirror, runner } = parts
  return async (request) => {
    const signal = AbortSignal.timeout(10 * 60_000)
    const { cwd, kind, spec } = request
    const own = parts.worktreeAt(cwd)
    const worktree = own ?? (await scratchOf(parts, cwd, { signal }))
    const { task_id, branch, base_commit } = worktree
    const name = randomUUID()
    const state = await mirror.lend(worktree, { name, folder: cwd }, { signal })
    const files = await listJobFiles([
      ...request.files,
      join(cwd, '.copse', 'attachments'),
      ...(own === null ? [] : await parts.copiesOf(cwd, { signal })),
    ])
    const following = own !== null && kind === 'run' ? mirror.follow(own) : null
    let isOver = false
    const job = jobs.offer({
      runner_id: runner.id,
      grace_ms: runner.grace_seconds * 1_000,
      max_push_mb,
      spec: {
        ...spec,
        kind,
        task_id,
        folder: cwd,
        repository: {
          branch,
          base_commit,
          ...state,
          is_task: own !== null,
          user: await parts.userOf(cwd, { signal }),
        },
        files: [...files.list],
        setup_commands: own === null ? [] : [...parts.setUpOf(cwd)],
        limits: { max_snapshot_file_mb },
      },
      file: (n) => files.read(n),
      onLog: request.onLog,
      onAsk: request.onAsk,
      onBeat: () => undefined,
      onLink: request.onLink,
      arrive: async (refs, options) => (own === null ? [] : await mirror.takeOver(own, refs, options)),
    })
    parts.carry?.(job)
    const ended = afterwards(job.ended, async () => {
      isOver = true
      await following?.stop()
      await mirror.takeBack(task_id, name).catch(() => undefined)
    })
    return { ...job, ended, isOver: () => isOver }
  }
}

/** A folder that belongs to no task is lent under its own name, a UUID. */
async function scratchOf(parts: StartJobParts, path: string, { signal }: Cancellable): Promise<TaskWorktree> {
  const found = await parts.scratchAt(path, { signal })
  return { ...found, task_id: basename(path) as TaskId, path, branch: 'copse/scratch' }
}
