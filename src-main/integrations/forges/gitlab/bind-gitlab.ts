import type { BoundForge, ForgeContext } from '../bound-forge.ts'
import { checkToken } from './check.ts'
import { readComments, readThreads, replyTo, resolveThread, writeComment } from './discussions.ts'
import { openGitlab } from './gitlab-api.ts'
import { closeIssue, labelIssue, readIssue } from './issue.ts'
import { readLog, rerunJob } from './jobs.ts'
import { mergePull, mergeWhenReady } from './merge.ts'
import { readRepository } from './project.ts'
import { changePull, findPulls, openPull, openPullsOf, readPull } from './pulls.ts'
import { readReviews } from './reviews.ts'
import { readChecks, readChecksOf } from './statuses.ts'

/** Makes the port's methods for a project at GitLab, where a pull request is a merge request. */
export function bindGitlab(context: ForgeContext): BoundForge {
  const gitlab = openGitlab(context)
  return {
    check: () => checkToken(gitlab),
    repository: () => readRepository(gitlab),
    find: (head) => findPulls(gitlab, head),
    openOf: (branch) => openPullsOf(gitlab, branch),
    open: (pull) => openPull(gitlab, pull),
    read: (number) => readPull(gitlab, number),
    change: (number, change) => changePull(gitlab, number, change),
    merge: (number, merge) => mergePull(gitlab, number, merge),
    mergeWhenReady: (number, merge) => mergeWhenReady(gitlab, number, merge),
    checks: (pull) => readChecks(gitlab, pull),
    checksOf: (ref) => readChecksOf(gitlab, ref),
    log: (job) => readLog(gitlab, job),
    rerun: (job) => rerunJob(gitlab, job),
    threads: (number) => readThreads(gitlab, number),
    reviews: (number) => readReviews(gitlab, number),
    comments: (on) => readComments(gitlab, on),
    comment: (on, body) => writeComment(gitlab, on, body),
    reply: (number, thread, body) => replyTo(gitlab, number, thread, body),
    resolve: (number, thread) => resolveThread(gitlab, number, thread),
    issue: (number) => readIssue(gitlab, number),
    closeIssue: (number) => closeIssue(gitlab, number),
    labelIssue: (number, name, on) => labelIssue(gitlab, number, name, on),
  }
}
