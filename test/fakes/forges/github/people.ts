import type {
  CheckRun,
  Conclusion,
  FakeApp,
  FakeIssue,
  FakePull,
  FakeRepository,
  FakeReview,
  FakeThread,
  MergeMethod,
  Status,
  ThreadComment,
  WorkflowRun,
} from './state.ts'
import { mergeNow, settle } from './merging.ts'
import { issueOf, nextNumber, touch, userOf, type World } from './world.ts'

export const actionsApp: FakeApp = { id: 15_368, slug: 'github-actions' }

/** What people, and the programs that check, do at GitHub. */
export function createPeople(world: World) {
  const comment = (login: string | null, body: string) => ({
    id: world.nextId(),
    user: login === null ? null : userOf(world, login),
    body,
    created_at: world.time(),
  })
  const finish = async (run: CheckRun, conclusion: Conclusion, log: string | null = run.log) => {
    Object.assign(run, { status: 'completed', conclusion, log })
    if (run.run) run.run.updated_at = world.time()
    await settle(world)
  }
  return {
    openIssue: (repository: FakeRepository, login: string, title: string): FakeIssue => {
      const time = world.time()
      const issue: FakeIssue = {
        number: nextNumber(repository),
        repository,
        user: userOf(world, login),
        title,
        body: null,
        state: 'open',
        labels: new Set(),
        comments: [],
        created_at: time,
        updated_at: time,
      }
      repository.issues.set(issue.number, issue)
      return issue
    },
    deleteIssue: (repository: FakeRepository, number: number): void => {
      repository.issues.delete(number)
      repository.deleted.add(number)
    },
    commentOn: (repository: FakeRepository, number: number, login: string | null, body: string): void => {
      const issue = issueOf(repository, number)
      issue?.comments.push(comment(login, body))
      if (issue) touch(world, issue)
    },
    review: async (pull: FakePull, login: string, state: FakeReview['state'], body = ''): Promise<FakeReview> => {
      const submitted_at = state === 'PENDING' ? null : world.time()
      const review = { id: world.nextId(), user: userOf(world, login), state, body, submitted_at }
      pull.reviews.push(review)
      if (state !== 'PENDING') {
        pull.requested.delete(login)
        touch(world, pull)
      }
      await settle(world)
      return review
    },
    /** A dismissed review keeps its place. */
    dismiss: (review: FakeReview): void => void (review.state = 'DISMISSED'),
    requestReview: (pull: FakePull, login: string): void => {
      pull.requested.add(login)
      touch(world, pull)
    },
    /** Comments on a line; `PENDING`: in a review that isn't sent yet. */
    commentOnLine: (
      pull: FakePull,
      login: string | null,
      at: { readonly path: string; readonly line: number | null; readonly side?: 'LEFT' | 'RIGHT' },
      body: string,
      state: ThreadComment['state'] = 'SUBMITTED',
    ): FakeThread => {
      const first = { ...comment(login, body), state }
      const thread: FakeThread = {
        node_id: `PRRT_${world.nextId()}`,
        pull,
        path: at.path,
        line: at.line,
        side: at.side ?? 'RIGHT',
        resolved: false,
        outdated: false,
        comments: [first],
      }
      pull.threads.push(thread)
      touch(world, pull)
      return thread
    },
    answer: (thread: FakeThread, login: string, body: string, state: ThreadComment['state'] = 'SUBMITTED'): void => {
      thread.comments.push({ ...comment(login, body), state })
      touch(world, thread.pull)
    },
    setResolved: (thread: FakeThread, resolved: boolean): void => void (thread.resolved = resolved),
    merge: (pull: FakePull, method: MergeMethod = 'merge'): Promise<string> => mergeNow(world, pull, method),
    close: (pull: FakeIssue): void => {
      pull.state = 'closed'
      touch(world, pull)
    },
    reopen: (pull: FakeIssue): void => {
      pull.state = 'open'
      touch(world, pull)
    },
    retarget: (pull: FakePull, base: string): void => {
      pull.base = base
      touch(world, pull)
    },
    /** The queue merges it. */
    mergeFromQueue: (pull: FakePull): Promise<string> => mergeNow(world, pull, 'merge'),
    throwOutOfQueue: (pull: FakePull): void => {
      pull.queued = false
      touch(world, pull)
    },
    /** Starts a workflow with jobs, as a push does. */
    startWorkflow: (
      repository: FakeRepository,
      commit: string,
      jobs: readonly string[],
      { name = 'CI', event = 'push' }: { readonly name?: string; readonly event?: string } = {},
    ): readonly CheckRun[] => {
      const run: WorkflowRun = {
        id: world.nextId(),
        name,
        event,
        commit,
        attempt: 1,
        conclusion: null,
        updated_at: world.time(),
      }
      repository.runs.push(run)
      return jobs.map((job) => {
        const id = world.nextId()
        const details_url = `${world.web}/${repository.full_name}/actions/runs/${run.id}/job/${id}`
        return addRun(repository, { id, name: job, app: actionsApp, commit, details_url, run })
      })
    },
    /** A workflow whose file can't be read ends without a job. */
    failWorkflow: (repository: FakeRepository, commit: string, name: string, conclusion: Conclusion): void => {
      const run = { id: world.nextId(), name, event: 'push', commit, attempt: 1, conclusion, updated_at: world.time() }
      repository.runs.push(run)
    },
    /** Another app than Actions reports a check. */
    reportCheck: (repository: FakeRepository, commit: string, name: string, app: FakeApp): CheckRun => {
      const details_url = `https://ci.example.com/${name}`
      return addRun(repository, { id: world.nextId(), name, app, commit, details_url, run: null })
    },
    setStatus: (run: CheckRun, status: Status): void => void (run.status = status),
    finish,
    reportStatus: async (
      repository: FakeRepository,
      commit: string,
      context: string,
      state: 'error' | 'failure' | 'pending' | 'success',
      target_url: string | null = `https://ci.example.com/${context}`,
    ): Promise<void> => {
      repository.statuses.push({ id: world.nextId(), context, commit, state, target_url, created_at: world.time() })
      await settle(world)
    },
  }
}

type NewRun = Omit<CheckRun, 'status' | 'conclusion' | 'log' | 'logExpired'>

function addRun(repository: FakeRepository, run: NewRun): CheckRun {
  const added: CheckRun = { ...run, status: 'queued', conclusion: null, log: null, logExpired: false }
  repository.checkRuns.push(added)
  return added
}
