import type { Cancellable } from './cancellable.ts'

/** A remote of a repository, with the addresses that git would use. */
export interface GitRemote {
  readonly name: string
  readonly fetch_url: string
  /** At least one, in the order in which git pushes to them. */
  readonly push_urls: readonly [string, ...string[]]
}

/** A token for HTTP. Neither git's arguments nor any file contain it. */
export interface GitCredential {
  /** The environment variable that holds the token. */
  readonly variable: string
  /** The user name that the forge wants with a token. */
  readonly user: string
  /** The only origin that is given the token, as `https://git.example.com`; redirects don't change that. */
  readonly origin: string
}

/** A repository at a forge, and what opens it. */
export interface RemoteAddress {
  readonly repo_path: string
  /** By HTTP(S) or SSH. Rewritten by the `url.….insteadOf` of the user's own configuration. */
  readonly url: string
  /** The remote that has this URL, as the `pre-push` hook is told; null if none has. */
  readonly remote: string | null
  /** null, or a URL of another origin: the user's own credential helper answers. SSH always uses the user's keys. */
  readonly credential: GitCredential | null
}

export interface PushRequest extends RemoteAddress {
  /** The local branch, as the `pre-push` hook is told. */
  readonly branch: string
  /** What the remote branch is to be; the local branch may be elsewhere by now. */
  readonly commit: string
  readonly remote_branch: string
  /** null: only a fast-forward. Else it is replaced if it is at `expected`; null there: if it doesn't exist. */
  readonly force: { readonly expected: string | null } | null
}

export interface PushResult {
  /** The remote branch before and after, as the remote said; null: it didn't exist. */
  readonly before: string | null
  readonly after: string | null
  /** `untrusted`: the repository has a `pre-push` hook that is not what it was when it was added, so it didn't run. */
  readonly hook: 'ran' | 'none' | 'untrusted'
}

/** How a commit lies to another. */
type CommitRelation = 'same' | 'ahead' | 'behind' | 'diverged'

/** Takes branches to and from a forge. Rejects with `PushError`, or with `WorkspaceError` about the repository here. */
export interface BranchPusher {
  remotes(repo_path: string, options: Cancellable): Promise<readonly GitRemote[]>
  /** Returns the commit of a branch there; null if there is no such branch. */
  head(request: RemoteAddress & { readonly branch: string }, options: Cancellable): Promise<string | null>
  /**
   * Fetches a branch into a ref of Copse, as `refs/copse/pulls/{task}`, and returns its commit; null if there is no such
   * branch, the ref stays then. Below `refs/copse` it doesn't count as kept: a clean-up still makes a rescue.
   * Changes no other ref.
   */
  fetch(
    request: RemoteAddress & { readonly branch: string; readonly into_ref: string },
    options: Cancellable,
  ): Promise<string | null>
  /** Pushes one commit to one branch, and no tag. Changes no ref here. */
  push(request: PushRequest, options: Cancellable): Promise<PushResult>
  /**
   * Deletes a branch there if it is at `expected`; runs no hook, because nothing is sent. `moved`: it is at another
   * commit, and stays.
   */
  delete(
    request: RemoteAddress & { readonly branch: string; readonly expected: string },
    options: Cancellable,
  ): Promise<'deleted' | 'gone' | 'moved'>
  /** Returns how our commit lies to theirs; both must be in the repository. */
  relation(repo_path: string, ours: string, theirs: string, options: Cancellable): Promise<CommitRelation>
}

/** Why a push was refused. `moved`: the remote branch has commits that the pushed one doesn't have. */
export type PushRejection = 'protected' | 'workflow_scope' | 'secret' | 'too_large' | 'hook' | 'moved' | 'other'

export type PushFailure =
  | 'rejected'
  | 'missing_secret'
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'archived'
  | 'unreachable'

/** The remote refused, or couldn't be asked. Nothing here contains the token. */
export class PushError extends Error {
  override readonly name = 'PushError'
  readonly code: PushFailure
  /** null unless the code is `rejected`. */
  readonly reason: PushRejection | null
  /** What git and the remote said, without terminal codes, at most 8 KiB. */
  readonly output: string

  constructor(code: PushFailure, message: string, more: { readonly reason?: PushRejection; readonly output?: string }) {
    super(message)
    this.code = code
    this.reason = more.reason ?? null
    this.output = more.output ?? ''
  }
}
