import type { PullRequestState } from '../../../src-shared/contract/pull-requests.ts'

/** Returns whether a pull request is open at the forge, as a draft or not. */
export const isOpenAt = ({ state }: { readonly state: PullRequestState }): boolean =>
  state === 'open' || state === 'draft'

/** Returns whether nobody goes on with a task, though its pull request may be open. */
export const isGivenUp = (
  { cancellation }: { readonly cancellation: { readonly name: string } | null },
  { archived, status }: { readonly archived: boolean; readonly status: string },
): boolean => archived || status === cancellation?.name
