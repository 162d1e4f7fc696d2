/** Containment levels that can be configured. */
export const containmentLevels = ['auto', 'none', 'worktree', 'worktree_and_hosts'] as const
