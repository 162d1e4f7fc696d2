import type { Refusal } from '../../src-shared/contract/errors.ts'
import { trackerInfos } from '../../src-shared/contract/trackers.ts'
import { PushError, type RemoteAddress } from '../ports/branch-pusher.ts'
import type { ForgeRepository } from '../ports/forges.ts'
import type { IntegrationRecord } from '../ports/issue-trackers.ts'
import type { PullRequestRecord } from '../ports/pull-request-queries.ts'
import type { PullRequestDeps } from './pull-request-ground.ts'
import { chooseRemote } from './rules/choose-remote.ts'
import type { WorkToPush } from './work-to-push.ts'

interface Push {
  readonly connection: IntegrationRecord
  readonly repository: ForgeRepository
  readonly work: WorkToPush
  readonly known: PullRequestRecord | null
  /** A commit of others at the forge that a person lets it replace. */
  readonly replaces: string | null
}

/**
 * Pushes a task's judged commit to its branch at the forge. Commits of others there are not overwritten: only a commit
 * that Copse itself pushed is replaced, or that a person lets it replace, with a lease.
 */
export async function pushWork(
  deps: PullRequestDeps,
  { connection, repository, work, known, replaces }: Push,
  signal: AbortSignal,
): Promise<{ readonly commit: string } | Refusal> {
  const { pusher } = deps.context
  const { commit, ref } = work
  const { repo_path, branch } = ref
  try {
    const { fork, remote } = connection.pull_requests
    const address = await addressOf(deps, connection, { repository, repo_path, fork, remote }, signal)
    if ('code' in address) return address
    const there = await pusher.head({ ...address, branch }, { signal })
    if (there === commit) return { commit }
    const isOurs = there !== null && (there === known?.pushed || there === replaces)
    const force = isOurs ? { expected: there } : null
    const pushed = await pusher.push({ ...address, branch, commit, remote_branch: branch, force }, { signal })
    if (pushed.hook === 'untrusted') {
      deps.context.log.warn(
        { repo_path },
        'the pre-push hook changed since the repository was added, so it did not run',
      )
    }
    return { commit }
  } catch (error) {
    if (!(error instanceof PushError)) throw error
    return pushRefusal(error)
  }
}

interface Place {
  readonly repository: ForgeRepository
  readonly repo_path: string
  readonly fork: string | null
  /** The remote that the settings name. */
  readonly remote: string | null
}

/** Returns the address of a repository at the forge: the token goes only where the forge says that it is. */
export async function addressOf(
  { context: { pusher } }: PullRequestDeps,
  connection: IntegrationRecord,
  { repository, repo_path, fork, remote }: Place,
  signal: AbortSignal,
): Promise<RemoteAddress | Refusal> {
  const remotes = await pusher.remotes(repo_path, { signal })
  const target = fork === null ? repository : forkOf(repository, fork)
  const choice = chooseRemote(remotes, { named: remote, target })
  if (choice.kind === 'no_such_remote') {
    return {
      code: 'push_rejected',
      message: `The repository has no remote ${remote ?? ''}. Name another in the project's settings, or none.`,
      details: { reason: 'other', output: '' },
    }
  }
  const { origin } = new URL(target.clone_url)
  const credential = {
    variable: connection.token_secret_ref,
    user: trackerInfos[connection.platform].gitUser,
    origin,
  }
  return { repo_path, url: choice.url, remote: choice.remote, credential }
}

/** A fork lies at the same forge under its own name. */
function forkOf({ clone_url, ssh_url, full_name }: ForgeRepository, fork: string) {
  return {
    clone_url: clone_url.replace(full_name, fork),
    ssh_url: ssh_url === null ? null : ssh_url.replace(full_name, fork),
  }
}

/** Returns the refusal for a push that was refused. */
export function pushRefusal({ code, message, reason, output }: PushError): Refusal {
  return code === 'rejected'
    ? { code: 'push_rejected', message, details: { reason: reason ?? 'other', output } }
    : { code: 'external_sync_failed', message, details: { reason: code } }
}
