import type { BoundForge, ForgeContext } from '../bound-forge.ts'
import { readLog, rerunJob } from './actions.ts'
import { readChecks, readChecksOf } from './checks.ts'
import { listComments, writeComment } from './comments.ts'
import { openGithub } from './github.ts'
import { closeIssue, labelIssue, readIssue } from './issue.ts'
import { mergePull, mergeWhenReady } from './merge.ts'
import { changePull, findPulls, openPull, openPullsOf, readPull } from './pulls.ts'
import { readRepository } from './repository.ts'
import { listReviews } from './reviews.ts'
import { listThreads, replyTo, resolveThread } from './threads.ts'
import { checkToken } from './token-check.ts'

/** Makes the port's methods for a repository at GitHub or GitHub Enterprise. */
export function bindGithub(context: ForgeContext): BoundForge {
  const github = openGithub(context)
  return {
    check: () => checkToken(github),
    repository: () => readRepository(github),
    find: (head) => findPulls(github, head),
    openOf: (branch) => openPullsOf(github, branch),
    open: (pull) => openPull(github, pull),
    read: (number) => readPull(github, number),
    change: (number, change) => changePull(github, number, change),
    merge: (number, merge) => mergePull(github, number, merge),
    mergeWhenReady: (number, merge) => mergeWhenReady(github, number, merge),
    checks: (pull) => readChecks(github, pull),
    checksOf: (commit) => readChecksOf(github, commit),
    log: (job) => readLog(github, job),
    rerun: (job) => rerunJob(github, job),
    threads: (number) => listThreads(github, number),
    reviews: (number) => listReviews(github, number),
    comments: ({ number }) => listComments(github, number),
    comment: ({ number }, body) => writeComment(github, number, body),
    reply: (number, thread, body) => replyTo(github, number, thread, body),
    resolve: (_number, thread) => resolveThread(github, thread),
    issue: (number) => readIssue(github, number),
    closeIssue: (number) => closeIssue(github, number),
    labelIssue: (number, label, on) => labelIssue(github, number, label, on),
  }
}
