import type { GitStart } from './start-git.ts'

/** What the service asks of the helper. `id` is a command's. */
export type ToGitHelper =
  | { readonly kind: 'start'; readonly id: number; readonly start: GitStart }
  | { readonly kind: 'stop'; readonly id: number }
  /** So many bytes of stdout were read. */
  | { readonly kind: 'read'; readonly id: number; readonly bytes: number }

/** What the helper tells the service. */
export type FromGitHelper =
  | { readonly kind: 'ready' }
  | { readonly kind: 'stdout' | 'stderr'; readonly id: number; readonly chunk: Uint8Array }
  | { readonly kind: 'ended'; readonly id: number; readonly exit_code: number | null }
  | {
      readonly kind: 'refused'
      readonly id: number
      readonly why: 'no_directory' | 'failed'
      readonly message: string
    }
