import type { Denial } from '../ports/containment.ts'

export interface Denials {
  add(what: Denial['what'], target: string): void
  /** Tells how often each came, where that was more than once. */
  end(): void
}

/** More are not told: a run may try a million names. */
const maxTold = 100
/** A target that is longer is cut. */
const maxLength = 1_000

/** Tells each target when it is first denied, and at the end how often it was; at most 100 times in all. */
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

/** Reads a line of the library: the host by its proxy, the path by the system's log on macOS. Null: something else. */
export function readDenial(line: string): Pick<Denial, 'what' | 'target'> | null {
  const host = /\bdeny(?:\(\d+\))? network-outbound (\*:\d+|[^\s/]+?)(?::\d+)?(?: \(|$)/.exec(line)?.[1]
  if (host !== undefined) return { what: 'host', target: host.replace(/^\[|\]$/g, '') }
  const path = /\bdeny\(\d+\) file-(?:read|write)\S* (\/.*)$/.exec(line)?.[1]
  return path === undefined ? null : { what: 'path', target: path }
}

const phrase = /EROFS|read-only file system/i
const colours = /\u001b\[[\d;]*m/g

/**
 * Returns the paths that programs say lie in a read-only file system: outside what it may write, everything is that to a
 * contained run on Linux, where nothing else tells of it.
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
