import type { Denial } from '../ports/containment.ts'

export interface Denials {
  add(what: Denial['what'], target: string): void
  /** Reports the number of denials of each target that was denied more than once. */
  end(): void
}

/** Maximum number of reported targets, because a run may try a million names. */
const maxTold = 100
/** Maximum length of a target; longer ones are cut. */
const maxLength = 1_000

/** Reports each target at its first denial, and at the end how often it was denied; at most 100 reports. */
export function createDenials(tell: (denial: Denial) => void): Denials {
  const counts = new Map<string, { readonly what: Denial['what']; readonly target: string; count: number }>()
  let told = 0
  const say = (denial: Denial): void => {
    if (told >= maxTold) return
    told += 1
    tell(denial)
  }
  return {
    add: (what, named) => {
      const target = named.slice(0, maxLength)
      const known = counts.get(`${what} ${target}`)
      if (known) known.count += 1
      else if (told < maxTold) {
        const first = { what, target, count: 1 }
        counts.set(`${what} ${target}`, first)
        say({ ...first })
      }
    },
    end: () => {
      for (const { what, target, count } of counts.values()) if (count > 1) say({ what, target, count })
      counts.clear()
    },
  }
}

/** Parses a line of the library: a host from its proxy, a path from the system's log on macOS. Null for other lines. */
export function readDenial(line: string): Pick<Denial, 'what' | 'target'> | null {
  const host = /\bdeny(?:\(\d+\))? network-outbound (\*:\d+|[^\s/]+?)(?::\d+)?(?: \(|$)/.exec(line)?.[1]
  if (host !== undefined) return { what: 'host', target: host.replace(/^\[|\]$/g, '') }
  const path = /\bdeny\(\d+\) file-(?:read|write)\S* (\/.*)$/.exec(line)?.[1]
  return path === undefined ? null : { what: 'path', target: path }
}

const phrase = /EROFS|read-only file system/i
const colours = /\u001b\[[\d;]*m/g

/**
 * Returns the paths that programs report as in a read-only file system. On Linux that is how a contained run sees all
 * that it may not write, and nothing else reports it.
 */
export function readOnlyPaths(text: string): readonly string[] {
  if (!phrase.test(text)) return []
  return text
    .replaceAll(colours, '')
    .split('\n')
    .flatMap((line) => {
      const at = line.search(phrase)
      if (at < 0) return []
      const path = pathsIn(line.slice(at)).at(0) ?? pathsIn(line.slice(0, at)).at(-1)
      return path === undefined ? [] : [path]
    })
}

const pathsIn = (text: string): readonly string[] =>
  [...text.matchAll(/['"‘“`](\/[^'"’”`]+)['"’”`]|(?<![\w.~-])(\/[^\s:'"‘’“”`,()]+)/g)].flatMap(
    ([, quoted, bare]) => quoted ?? bare ?? [],
  )
