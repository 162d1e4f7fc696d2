import type { GitViews } from '../../ports/git-views.ts'
import type { Workspaces } from '../../ports/workspaces.ts'

/** What neither reads a repository nor changes one. */
const apart = new Set([
  'nearby',
  'exists',
  'size',
  'lock',
  'unlock',
  'readLock',
  'arePortsFree',
  'answeringPorts',
  'watch',
])

/** Returns an object whose methods first take over what contained runs have made so far. */
export function seeingRuns(views: GitViews, workspaces: Workspaces): Workspaces {
  return new Proxy(workspaces, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function' || apart.has(String(key))) return member
      return async (...args: unknown[]): Promise<unknown> => {
        if (key === 'ensure') {
          const { path, branch } = args[0] as Parameters<Workspaces['ensure']>[0]
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
