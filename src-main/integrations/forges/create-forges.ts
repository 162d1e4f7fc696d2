import type { Platform } from '../../../src-shared/contract/trackers.ts'
import type { Forges, ForgeSource } from '../../ports/forges.ts'
import type { Cancellable } from '../../ports/cancellable.ts'
import type { BoundForge, ForgeContext } from './bound-forge.ts'
import { createForgeRequests, type ForgeRequestsOptions } from './forge-requests.ts'
import { bindGitea } from './gitea/bind-gitea.ts'
import { bindGithub } from './github/bind-github.ts'
import { bindGitlab } from './gitlab/bind-gitlab.ts'
import { createRecall } from './recall.ts'

const platforms: { readonly [P in Platform]: (context: ForgeContext) => BoundForge } = {
  hosted: bindGithub,
  selfhosted: bindGitea,
  gitlab: bindGitlab,
}

/** Creates what reads and writes pull requests at all kinds of forges. */
export function createForges(options: ForgeRequestsOptions): Forges {
  const requests = createForgeRequests(options)
  const recall = createRecall(options.clock)
  const marks = new Map<string, string>()
  const at = (source: ForgeSource, cancellable: Cancellable): BoundForge => {
    const bind = platforms[source.platform]
    const api: ForgeContext['api'] = (dialect) => requests(source, dialect, cancellable)
    return bind({ source, api, recall, marks, clock: options.clock })
  }
  return {
    check: async (source, options) => at(source, options).check(),
    repository: async (source, options) => at(source, options).repository(),
    find: async (source, head, options) => at(source, options).find(head),
    openOf: async (source, branch, options) => at(source, options).openOf(branch),
    open: async (source, pull, options) => at(source, options).open(pull),
    read: async (source, number, options) => at(source, options).read(number),
    change: async (source, number, change, options) => at(source, options).change(number, change),
    merge: async (source, number, merge, options) => at(source, options).merge(number, merge),
    mergeWhenReady: async (source, number, merge, options) => at(source, options).mergeWhenReady(number, merge),
    checks: async (source, pull, options) => at(source, options).checks(pull),
    checksOf: async (source, ref, options) => at(source, options).checksOf(ref),
    log: async (source, job, options) => at(source, options).log(job),
    rerun: async (source, job, options) => at(source, options).rerun(job),
    threads: async (source, number, options) => at(source, options).threads(number),
    reviews: async (source, number, options) => at(source, options).reviews(number),
    comments: async (source, on, options) => at(source, options).comments(on),
    comment: async (source, on, body, options) => at(source, options).comment(on, body),
    reply: async (source, number, thread, body, options) => at(source, options).reply(number, thread, body),
    resolve: async (source, number, thread, options) => at(source, options).resolve(number, thread),
    issue: async (source, number, options) => at(source, options).issue(number),
    closeIssue: async (source, number, options) => at(source, options).closeIssue(number),
    labelIssue: async (source, number, label, on, options) => at(source, options).labelIssue(number, label, on),
  }
}
