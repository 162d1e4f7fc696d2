import type { PullRequestState } from '../../../src-shared/contract/pull-requests.ts'

/** Returns whether a pull request is open at the forge, as a draft or not. */
export const isOpenAt = ({ state }: { readonly state: PullRequestState }): boolean =>
  state === 'open' || state === 'draft'
