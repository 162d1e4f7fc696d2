import type { PullRequestSettings, WriteBackSettings } from '../../../src-shared/contract/pull-requests.ts'

/** The form data of a project's pull requests, but for whether they are on. */
export interface PullRequestDraft {
  draft: boolean
  target: string
  remote: string
  fork: string
  /** Separated by commas, as `reviewers` and `also`. */
  labels: string
  reviewers: string
  /** Empty for the repository's own. */
  method: NonNullable<PullRequestSettings['method']> | ''
  title: string
  body: string
  deleteBranch: boolean
  autoMerge: boolean
  fix: boolean
  rounds: number
  from: PullRequestSettings['auto_fix']['from']
  also: string
  resolve: boolean
}

export function pullRequestDraft({ auto_fix, ...settings }: PullRequestSettings): PullRequestDraft {
  return {
    draft: settings.draft,
    target: settings.target_branch ?? '',
    remote: settings.remote ?? '',
    fork: settings.fork ?? '',
    labels: settings.labels.join(', '),
    reviewers: settings.reviewers.join(', '),
    method: settings.method ?? '',
    title: settings.title ?? '',
    body: settings.body ?? '',
    deleteBranch: settings.delete_branch,
    autoMerge: settings.auto_merge,
    fix: auto_fix.enabled,
    rounds: auto_fix.max_rounds,
    from: auto_fix.from,
    also: auto_fix.also.join(', '),
    resolve: auto_fix.resolve,
  }
}

/** Returns all settings, since a change replaces the whole. */
export function pullRequestSettings(draft: PullRequestDraft, enabled: boolean): PullRequestSettings {
  return {
    enabled,
    draft: draft.draft,
    target_branch: orNull(draft.target),
    remote: orNull(draft.remote),
    fork: orNull(draft.fork),
    labels: listOf(draft.labels),
    reviewers: listOf(draft.reviewers),
    title: orNull(draft.title),
    body: orNull(draft.body),
    delete_branch: draft.deleteBranch,
    method: draft.method === '' ? null : draft.method,
    auto_merge: draft.autoMerge,
    auto_fix: {
      enabled: draft.fix,
      max_rounds: draft.rounds,
      from: draft.from,
      also: listOf(draft.also),
      resolve: draft.resolve,
    },
  }
}

/** Returns why the form can't be saved, in a few words; null if it can. */
export function pullRequestProblem({ fork, fix, rounds }: PullRequestDraft): string | null {
  if (fork.trim() !== '' && !/^[^\s?#\\%]+\/[^\s/?#\\%]+$/.test(fork.trim())) return 'Enter the fork as owner/name'
  if (fix && (!Number.isInteger(rounds) || rounds < 1 || rounds > 100)) return 'Enter 1 to 100 rounds'
  return null
}

/** The form data of what is written to issues. */
export interface WriteBackDraft {
  comment: boolean
  close: boolean
  label: string
  follow: boolean
}

export const writeBackDraft = ({ label, ...settings }: WriteBackSettings): WriteBackDraft => ({
  ...settings,
  label: label ?? '',
})

export const writeBackSettings = ({ label, ...draft }: WriteBackDraft): WriteBackSettings => ({
  ...draft,
  label: orNull(label),
})

/** Returns whether two settings are the same. */
export const sameSettings = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const orNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())

const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
