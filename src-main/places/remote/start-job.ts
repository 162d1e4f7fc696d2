import { randomUUID } from 'node:crypto'
import { basename, join } from 'node:path'
import type { ExecutionId, RunnerId, TaskId } from '../../../src-shared/contract/ids.ts'
import type { JobSpec } from '../../../src-shared/contract/jobs.ts'
import { afterwards } from '../../../src-shared/lang/afterwards.ts'
import type { HeldRun, Job, JobWork } from '../../jobs/job.ts'
import type { Jobs } from '../../jobs/jobs.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import { listJobFiles, readJobFile } from './job-files.ts'
import type { CarriedPorts } from './carried-ports.ts'
import type { Mirror, TaskWorktree } from './mirror.ts'

/** What takes that which comes of a job, besides its work. */
type JobListener = Pick<JobWork, 'onLog' | 'onAsk' | 'onLink'>

/** A job that a runner is given. */
interface JobRequest extends JobListener {
  readonly kind: JobSpec['kind']
  /** The folder here that it works in. */
  readonly cwd: string
  readonly spec: Pick<JobSpec, 'execution' | 'agent' | 'prompt' | 'env' | 'session_id' | 'steps' | 'containment'>
  /** Files beside the worktree that it needs. */
  readonly files: readonly string[]
}

export interface StartedJob extends Omit<Job, 'id'> {
  isOver(): boolean
  /** Leaves it to the next service, which goes on with it. */
  leave(): Promise<void>
}

export interface StartJob {
  start(request: JobRequest): Promise<StartedJob>
  held(execution_id: ExecutionId): HeldRun | null
  takeUp(held: HeldRun, listener: JobListener & Pick<JobWork, 'newRunToken'>): StartedJob
}

/** A job to which something is done so that a runner takes it and is heard. */
export interface CarriedJob extends Pick<Job, 'id' | 'ended' | 'taken'> {
  readonly kind: JobSpec['kind']
  /** A runner has it from an earlier service. */
  readonly isHeld: boolean
}

export interface StartJobParts {
  readonly jobs: Jobs
  readonly mirror: Mirror
  readonly ports: Pick<CarriedPorts, 'allow'>
  readonly runner: { readonly id: RunnerId; readonly name: string; readonly grace_seconds: number }
  /** Brings a job to its runner. */
  readonly carry?: (job: CarriedJob) => void
  /** Each job has a machine of its own, which `carry` starts and watches. */
  readonly hasMachinePerJob?: boolean
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
  const { jobs, mirror, ports, runner } = parts
  const limits = { grace_ms: runner.grace_seconds * 1_000, max_push_mb }
  const arriveAt =
    (own: TaskWorktree | null): JobWork['arrive'] =>
    async (work, options) =>
      own === null ? [] : await mirror.takeOver(own, work, options)
  /** Keeps the worktree here as the one there while the job runs, and ends its loan with it. */
  const follow = (
    job: Job,
    of: { readonly task_id: TaskId; readonly loan: string; readonly own: TaskWorktree | null },
    following: ReturnType<Mirror['follow']> | null,
  ): StartedJob => {
    let isOver = false
    const allowed = of.own && ports.allow({ job: job.id, runner_id: runner.id, ports: of.own.ports })
    const ended = afterwards(job.ended, async () => {
      isOver = true
      allowed?.[Symbol.dispose]()
      await following?.stop()
      await (of.own ? mirror.takeBack(of.task_id, of.loan) : mirror.discard(of.task_id)).catch(() => undefined)
    })
    return { ...job, ended, isOver: () => isOver, leave: async () => await following?.stop() }
  }
  return {
    start: async (request) => {
      const signal = AbortSignal.timeout(10 * 60_000)
      const { cwd, kind, spec, onLog, onAsk, onLink } = request
      const own = parts.worktreeAt(cwd)
      const worktree = own ?? (await scratchOf(parts, cwd, { signal }))
      const { task_id, branch, base_commit } = worktree
      const loan = randomUUID()
      // Each of these waits for several starts of git, one after the other.
      const [state, copies, user] = await Promise.all([
        mirror.lend(worktree, { name: loan, folder: cwd }, { signal }),
        own === null ? [] : parts.copiesOf(cwd, { signal }),
        parts.userOf(cwd, { signal }),
      ])
      const files = await listJobFiles([...request.files, join(cwd, '.copse', 'attachments'), ...copies])
      const following = own !== null && kind === 'run' ? mirror.follow(own) : null
      const job = jobs.offer({
        ...limits,
        runner_id: runner.id,
        loan,
        needs_contact: kind === 'steps' && parts.hasMachinePerJob !== true,
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
            user,
          },
          files: [...files],
          setup_commands: own === null ? [] : [...parts.setUpOf(cwd)],
          limits: { max_snapshot_file_mb },
        },
        file: (n) => readJobFile(files, n),
        onLog,
        onAsk,
        onLink,
        arrive: arriveAt(own),
      })
      parts.carry?.({ ...job, kind, isHeld: false })
      return follow(job, { task_id, loan, own }, following)
    },
    held: (execution_id) => jobs.held(execution_id),
    takeUp: (held, { onLog, onAsk, onLink, newRunToken }) => {
      const { folder, files, loan } = held.ground
      const own = parts.worktreeAt(folder)
      const job = jobs.takeUp(held, {
        ...limits,
        file: (n) => readJobFile(files, n),
        onLog,
        onAsk,
        onLink,
        arrive: arriveAt(own),
        ...(newRunToken && { newRunToken }),
      })
      parts.carry?.({ ...job, kind: 'run', isHeld: true })
      const task_id = own?.task_id ?? (basename(folder) as TaskId)
      return follow(job, { task_id, loan, own }, own && mirror.follow(own, { now: true }))
    },
  }
}

/** A folder that belongs to no task is lent under its own name, a UUID. */
async function scratchOf(parts: StartJobParts, path: string, { signal }: Cancellable): Promise<TaskWorktree> {
  const found = await parts.scratchAt(path, { signal })
  return { ...found, task_id: basename(path) as TaskId, path, branch: 'copse/scratch', ports: [] }
}
