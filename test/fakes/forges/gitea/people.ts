import { hasPull, look, protectedBy, type PullIssue } from './context.ts'
import { complete } from './pull-routes.ts'
import { addCodeComment, pendingReview } from './review-routes.ts'
import {
  nextId,
  nextTime,
  type CodeComment,
  type Issue,
  type Job,
  type Review,
  type State,
  type Status,
} from './state.ts'

/** What people and other programs do at the forge. */
export interface GiteaPeople {
  issue(
    repository: string,
    issue: { readonly title: string; readonly user?: string; readonly labels?: string[] },
  ): Issue
  pull(repository: string, number: number): PullIssue
  comment(repository: string, number: number, user: string, body: string): void
  review(repository: string, number: number, user: string, state: Review['state'], body?: string): Review
  /** Writes on a line, in a review of its own unless one is given; negative lines are of the old file. */
  commentOnLine(
    repository: string,
    number: number,
    user: string,
    at: { readonly path: string; readonly line: number; readonly body: string; readonly review?: number },
  ): CodeComment
  resolve(repository: string, number: number, comment: number, user: string): void
  close(repository: string, number: number): void
  reopen(repository: string, number: number): void
  retarget(repository: string, number: number, base: string): Promise<void>
  merge(repository: string, number: number, method?: 'merge' | 'squash' | 'rebase'): Promise<string>
  cancelScheduledMerge(repository: string, number: number): void
  /** Sets a status, by which a scheduled merge may be done. */
  status(
    repository: string,
    commit: string,
    context: string,
    status: Status['status'],
    more?: Partial<Status>,
  ): Promise<void>
  /** Lets a job of Actions report. */
  job(
    repository: string,
    commit: string,
    name: string,
    end: { readonly status: Status['status']; readonly description: string; readonly log?: string },
  ): Promise<Job>
}

export function createPeople(state: State): GiteaPeople {
  const at = (name: string) => {
    const repository = state.repositories.get(name.toLowerCase())
    if (!repository) throw new Error(`There is no repository ${name}.`)
    return repository
  }
  const issueAt = (name: string, number: number) => {
    const issue = at(name).issues.find((each) => each.number === number)
    if (!issue) throw new Error(`There is no issue ${number}.`)
    return issue
  }
  const pullAt = (name: string, number: number) => {
    const issue = issueAt(name, number)
    if (!hasPull(issue)) throw new Error(`Issue ${number} is no pull request.`)
    return issue
  }
  const touch = (issue: Issue) => (issue.updated_at = nextTime(state))
  const review: GiteaPeople['review'] = (name, number, user, decided, body = '') => {
    const issue = pullAt(name, number)
    const made = pendingReview(state, issue, user)
    Object.assign(made, { state: decided, body })
    touch(issue)
    return made
  }
  const status: GiteaPeople['status'] = async (name, commit, context, value, more = {}) => {
    const repository = at(name)
    const made = { id: nextId(state), commit, context, status: value, description: '', target_url: '', ...more }
    repository.statuses.push(made)
    for (const issue of repository.issues.filter(hasPull)) {
      if (issue.pull.scheduled === null) continue
      await look(state, repository, issue)
      // A scheduled merge asks for no head: whatever is there by now is merged.
      const waits = protectedBy(repository, issue)
      if (waits === null && issue.pull.commit === commit) await complete({ state, repository }, issue, 'merge')
    }
  }
  return {
    pull: pullAt,
    issue: (name, { title, user = 'anna', labels = [] }) => {
      const repository = at(name)
      for (const label of labels) repository.labels.push({ id: nextId(state), name: label, color: 'ededed' })
      const ids = repository.labels.filter((label) => labels.includes(label.name)).map(({ id }) => id)
      const made: Issue = {
        number: repository.issues.length + 1,
        user,
        title,
        body: '',
        state: 'open',
        labels: new Set(ids),
        comments: [],
        timeline: [],
        updated_at: nextTime(state),
        pull: null,
      }
      repository.issues.push(made)
      return made
    },
    comment: (name, number, user, body) => {
      const issue = issueAt(name, number)
      issue.comments.push({ id: nextId(state), user, body, created_at: touch(issue) })
    },
    review,
    commentOnLine: (name, number, user, { path, line, body, review: given }) => {
      const issue = pullAt(name, number)
      const id = given ?? review(name, number, user, 'COMMENT').id
      return addCodeComment(state, issue, { path, line, body, user, review: id })
    },
    resolve: (name, number, comment, user) => {
      const found = pullAt(name, number).pull.codeComments.find(({ id }) => id === comment)
      if (found) found.resolver = user
    },
    close: (name, number) => {
      const issue = issueAt(name, number)
      issue.state = 'closed'
      touch(issue)
    },
    reopen: (name, number) => {
      const issue = issueAt(name, number)
      issue.state = 'open'
      touch(issue)
    },
    retarget: async (name, number, base) => {
      const issue = pullAt(name, number)
      issue.pull.base = base
      await look(state, at(name), issue)
    },
    merge: async (name, number, method = 'merge') => {
      const issue = pullAt(name, number)
      await look(state, at(name), issue)
      await complete({ state, repository: at(name) }, issue, method)
      return issue.pull.merged ?? ''
    },
    cancelScheduledMerge: (name, number) => {
      const issue = pullAt(name, number)
      issue.pull.scheduled = null
      issue.timeline.push({ type: 'pull_cancel_scheduled_merge' })
      touch(issue)
    },
    status,
    job: async (name, commit, jobName, { status: value, description, log }) => {
      const repository = at(name)
      const known = repository.jobs.find((job) => job.commit === commit && job.name === jobName)
      const job = known ?? { id: nextId(state), run: nextId(state), commit, name: jobName, log: null, attempts: 1 }
      if (!known) repository.jobs.push(job)
      job.log = log ?? null
      await status(name, commit, `ci / ${jobName} (pull_request)`, value, {
        description,
        target_url: `/${repository.fullName}/actions/runs/${job.run}/jobs/${job.id}`,
      })
      return job
    },
  }
}
