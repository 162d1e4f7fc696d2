import { complete, detailedStatus, headPipeline, look, pipelineStatus } from './mergeability.ts'
import { nextId, nextTime, projectById, type Discussion, type Job, type MergeRequest } from './state.ts'
import type { Noteable, Note, Pipeline, Position, Project, State } from './state.ts'

/** What people, runners and other programs do there. */
export interface GitlabPeople {
  issue(
    path: string,
    issue: { readonly title: string; readonly user?: string; readonly labels?: readonly string[] },
  ): Noteable
  mergeRequest(path: string, iid: number): MergeRequest
  comment(path: string, on: { readonly kind: 'pull' | 'issue'; readonly iid: number }, user: string, body: string): void
  /** What GitLab notes of itself. */
  system(path: string, iid: number, body: string): void
  /** Starts a thread; without a line about no file. */
  thread(path: string, iid: number, user: string, body: string, at?: Partial<Position>): Promise<Discussion>
  answer(path: string, iid: number, discussion: string, user: string, body: string): void
  resolve(path: string, iid: number, discussion: string): void
  approve(path: string, iid: number, user: string): void
  review(path: string, iid: number, user: string, state: string): void
  close(path: string, iid: number): void
  reopen(path: string, iid: number): void
  retarget(path: string, iid: number, branch: string): Promise<void>
  merge(path: string, iid: number): Promise<MergeRequest>
  /** Starts a pipeline of a merge request's head; `sha` where it tests another commit, as the merge. */
  pipeline(path: string, iid: number, sha?: string): Promise<Pipeline>
  /** Sets a job of a pipeline, and lets GitLab do what waits for it. */
  job(path: string, pipeline: Pipeline, name: string, status: string, more?: Partial<Job>): Promise<Job>
  /** Reports from outside. */
  status(path: string, sha: string, name: string, status: string, targetUrl?: string): void
  /** Lets the merge train do its next merge. */
  runTrain(path: string): Promise<void>
}

export function createPeople(state: State): GitlabPeople {
  const at = (path: string): Project => {
    const project = state.projects.find((each) => each.path.toLowerCase() === path.toLowerCase())
    if (!project) throw new Error(`There is no project ${path}.`)
    return project
  }
  const pullAt = (path: string, iid: number): MergeRequest => {
    const pull = at(path).mergeRequests.find((each) => each.iid === iid)
    if (!pull) throw new Error(`There is no merge request ${iid}.`)
    return pull
  }
  const touch = (on: Noteable) => (on.updated_at = nextTime(state))
  const note = (user: string, body: string, more: Partial<Note> = {}): Note => ({
    id: nextId(state),
    user,
    body,
    created_at: nextTime(state),
    system: false,
    resolvable: false,
    resolved: false,
    position: null,
    ...more,
  })
  const discussionAt = (path: string, iid: number, id: string) => {
    const found = pullAt(path, iid).discussions.find((discussion) => discussion.id === id)
    if (!found) throw new Error(`There is no discussion ${id}.`)
    return found
  }
  return {
    mergeRequest: pullAt,
    issue: (path, { title, user = 'anna', labels = [] }) => {
      const { issues } = at(path)
      const issue: Noteable = {
        iid: issues.length + 1,
        user,
        title,
        description: '',
        state: 'opened',
        labels: new Set(labels),
        discussions: [],
        updated_at: nextTime(state),
      }
      issues.push(issue)
      return issue
    },
    comment: (path, { kind, iid }, user, body) => {
      const on = kind === 'pull' ? pullAt(path, iid) : at(path).issues.find((issue) => issue.iid === iid)
      on?.discussions.push({ id: `single-${nextId(state)}`, isSingle: true, notes: [note(user, body)] })
      if (on) touch(on)
    },
    system: (path, iid, body) => {
      const notes = [note('anna', body, { system: true })]
      pullAt(path, iid).discussions.push({ id: `system-${nextId(state)}`, isSingle: true, notes })
    },
    thread: async (path, iid, user, body, line) => {
      const pull = pullAt(path, iid)
      await look(state, at(path), pull)
      const position = line && {
        head_sha: pull.sha,
        new_path: 'a.ts',
        old_path: 'a.ts',
        new_line: null,
        old_line: null,
        ...line,
      }
      const first = note(user, body, { resolvable: true, position: position ?? null })
      const discussion = { id: `d${nextId(state)}e0f`, isSingle: false, notes: [first] }
      pull.discussions.push(discussion)
      touch(pull)
      return discussion
    },
    answer: (path, iid, discussion, user, body) =>
      void discussionAt(path, iid, discussion).notes.push(note(user, body, { resolvable: true })),
    resolve: (path, iid, discussion) => {
      for (const each of discussionAt(path, iid, discussion).notes) each.resolved = true
    },
    approve: (path, iid, user) => {
      const pull = pullAt(path, iid)
      pull.approvals.set(user, touch(pull))
      pull.reviewers.set(user, 'approved')
    },
    review: (path, iid, user, said) => void pullAt(path, iid).reviewers.set(user, said),
    close: (path, iid) => {
      pullAt(path, iid).state = 'closed'
      touch(pullAt(path, iid))
    },
    reopen: (path, iid) => {
      pullAt(path, iid).state = 'opened'
      touch(pullAt(path, iid))
    },
    retarget: async (path, iid, branch) => {
      pullAt(path, iid).target = branch
      await look(state, at(path), pullAt(path, iid))
    },
    merge: async (path, iid) => {
      const pull = pullAt(path, iid)
      await look(state, at(path), pull)
      await complete(state, at(path), pull, pull.squash)
      return pull
    },
    pipeline: async (path, iid, sha) => {
      const pull = pullAt(path, iid)
      await look(state, at(path), pull)
      const project = projectById(state, pull.source.project)
      const pipeline = { id: nextId(state), project: project.id, sha: sha ?? pull.sha, head: pull.sha }
      project.pipelines.push(pipeline)
      return pipeline
    },
    job: async (path, pipeline, name, status, more = {}) => {
      const { jobs } = projectById(state, pipeline.project)
      const known = jobs.find((job) => job.pipeline === pipeline.id && job.name === name && !job.isRetried)
      const job: Job = known ?? {
        id: nextId(state),
        name,
        pipeline: pipeline.id,
        status,
        allowFailure: false,
        isRetried: false,
        log: null,
        ...more,
      }
      if (!known) jobs.push(job)
      Object.assign(job, { status, ...more })
      await autoMerge(state, at(path))
      return job
    },
    status: (path, sha, name, status, targetUrl = 'https://ci.example/1') => {
      const project = at(path)
      const pipeline = project.pipelines.findLast((each) => each.sha === sha)?.id ?? nextId(state)
      project.statuses.push({ id: nextId(state), sha, name, status, targetUrl, pipeline })
    },
    runTrain: async (path) => {
      const pull = at(path).mergeRequests.find(({ car }) => car !== null)
      if (pull) await complete(state, at(path), pull, pull.squash)
    },
  }
}

/** Merges what was left to GitLab and may be merged by now. */
async function autoMerge(state: State, project: Project): Promise<void> {
  for (const pull of project.mergeRequests.filter((each) => each.autoMerge && each.car === null)) {
    await look(state, project, pull)
    const pipeline = headPipeline(state, pull)
    const isDone = pipeline === null || pipelineStatus(state, pipeline) === 'success'
    if (pull.autoMerge && isDone && (await detailedStatus(state, project, pull)) === 'mergeable') {
      await complete(state, project, pull, pull.squash)
    }
  }
}
