/** How a pull request is merged. Without schemas, because every command of `svc` loads these. */
export const mergeMethods = ['merge', 'squash', 'rebase'] as const
