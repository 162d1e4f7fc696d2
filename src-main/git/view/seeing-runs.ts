import type { GitViews } from '../../ports/git-views.ts'
import type { WorktreeRequest } from '../../ports/worktree-store.ts'

/** What neither reads a repository nor changes one. */
const apart = new Set(['nearby', 'exists', 'size', 'lock', 'unlock', 'readLock', 'watch'])

/** Returns a port whose methods first take over what contained runs have made so far. */
export function seeingRuns<T extends object>(views: GitViews, port: T): T {
  return new Proxy(port, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function' || apart.has(String(key))) return member
      return async (...args: unknown[]): Promise<unknown> => {
        if (key === 'ensure') {
          const { path, branch } = args[0] as WorktreeRequest
          views.expect(path, branch)
        }
        const [of] = args
        const path = typeof of === 'string' ? of : (of as { readonly path?: string | null } | undefined)?.path
        await views.takeOver(path ?? undefined)
        return Reflect.apply(member, target, args)
      }
    },
  })
}
