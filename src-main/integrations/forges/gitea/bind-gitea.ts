import type { BoundForge, ForgeContext } from '../bound-forge.ts'
import { answerThread, resolveThread } from './answer-thread.ts'
import { checkToken } from './check.ts'
import { closeIssue, readComments, readIssue, writeComment } from './comments.ts'
import { openGitea } from './gitea-api.ts'
import { labelIssue } from './issue-labels.ts'
import { readLog, rerunJob } from './jobs.ts'
import { mergePull, scheduleMerge } from './merge.ts'
import { changePull, findPulls, openPull, openPullsOf, readPull, readRepository } from './pulls.ts'
import { readReviews } from './reviews.ts'
import { readChecks, readChecksOfRef } from './statuses.ts'
import { readThreads } from './threads.ts'

/** Makes the port's methods for a repository at Gitea or Forgejo. */
export function bindGitea(context: ForgeContext): BoundForge {
  const gitea = openGitea(context)
  return {
    check: () => checkToken(gitea),
    repository: () => readRepository(gitea),
    find: (head) => findPulls(gitea, head),
    openOf: (branch) => openPullsOf(gitea, branch),
    open: (pull) => openPull(gitea, pull),
    read: (number) => readPull(gitea, number),
    change: (number, change) => changePull(gitea, number, change),
    merge: (number, merge) => mergePull(gitea, number, merge),
    mergeWhenReady: (number, merge) => scheduleMerge(gitea, number, merge),
    checks: (pull) => readChecks(gitea, pull),
    checksOf: (ref) => readChecksOfRef(gitea, ref),
    log: (job) => readLog(gitea, job),
    rerun: (job) => rerunJob(gitea, job),
    threads: (number) => readThreads(gitea, number),
    reviews: (number) => readReviews(gitea, number),
    comments: ({ number }) => readComments(gitea, number),
    comment: ({ number }, body) => writeComment(gitea, number, body),
    reply: (number, thread, body) => answerThread(gitea, { number, thread, body }),
    resolve: (_number, thread) => resolveThread(gitea, thread),
    issue: (number) => readIssue(gitea, number),
    closeIssue: (number) => closeIssue(gitea, number),
    labelIssue: (number, name, on) => labelIssue(gitea, number, name, on),
  }
}
