/** What the system may be asked to hold a run to. */
export const containmentLevels = ['auto', 'none', 'worktree', 'worktree_and_hosts'] as const
