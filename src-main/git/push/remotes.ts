import type { GitRemote } from '../../ports/branch-pusher.ts'
import type { ConfigEntry } from '../commands/configured-programs.ts'
import { isOuter } from './access.ts'

/**
 * Reads the remotes of a repository's configuration. Their addresses are rewritten as the user's own configuration
 * says: the repository's own rewriting isn't used, because a run could have written it.
 */
export function readRemotes(entries: readonly ConfigEntry[]): readonly GitRemote[] {
  const names = new Set(entries.flatMap(({ key }) => /^remote\.(.+)\.url$/s.exec(key)?.[1] ?? []))
  const rewrites = (variable: string) =>
    entries.flatMap(({ scope, key, value }) => {
      const base = isOuter(scope) && key.endsWith(`.${variable}`) ? /^url\.(.*)\.[^.]+$/s.exec(key)?.[1] : undefined
      return base === undefined || value === '' ? [] : [{ from: value, to: base }]
    })
  const [insteadOf, pushInsteadOf] = [rewrites('insteadof'), rewrites('pushinsteadof')]
  return [...names].flatMap((name) => {
    const valuesOf = (variable: string) =>
      entries.filter(({ key }) => key === `remote.${name}.${variable}`).map(({ value }) => value)
    const urls = valuesOf('url')
    const given = valuesOf('pushurl')
    // An address that is rewritten for pushes replaces all that are not, and isn't rewritten again.
    const forPush = given.length > 0 ? [] : urls.flatMap((url) => rewritten(url, pushInsteadOf) ?? [])
    const usual = (given.length > 0 ? given : urls).map((url) => rewritten(url, insteadOf) ?? url)
    const [first, ...others] = forPush.length > 0 ? forPush : usual
    const fetched = urls[0]
    if (first === undefined || fetched === undefined) return []
    return [{ name, fetch_url: rewritten(fetched, insteadOf) ?? fetched, push_urls: [first, ...others] as const }]
  })
}

/** Git takes the longest beginning that fits; null if none does. */
function rewritten(url: string, rewrites: readonly { readonly from: string; readonly to: string }[]): string | null {
  const [best] = rewrites.filter(({ from }) => url.startsWith(from)).toSorted((a, b) => b.from.length - a.from.length)
  return best === undefined ? null : best.to + url.slice(best.from.length)
}
