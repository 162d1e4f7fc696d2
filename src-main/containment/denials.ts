import type { Denial } from '../ports/containment.ts'

export interface Denials {
  add(denial: Omit<Denial, 'count'>): void
  /** Reports the number of denials of each target that was denied more than once. */
  end(): void
}

/** Maximum number of reported targets, because a run may try a million names. */
const maxTold = 100
/** Maximum length of a target; longer ones are cut. */
const maxLength = 1_000

/** Reports each target at its first denial, and at the end how often it was denied; at most 100 reports. */
export function createDenials(tell: (denial: Denial) => void): Denials {
  const counts = new Map<string, Omit<Denial, 'count'> & { count: number }>()
  let told = 0
  const say = (denial: Denial): void => {
    if (told >= maxTold) return
    told += 1
    tell(denial)
  }
  return {
    add: ({ target: named, ...about }) => {
      const { what } = about
      const target = named.slice(0, maxLength)
      const known = counts.get(`${what} ${target}`)
      if (known) known.count += 1
      else if (told < maxTold) {
        const first = { ...about, target, count: 1 }
        counts.set(`${what} ${target}`, first)
        say({ ...first })
      }
    },
    end: () => {
      for (const denial of counts.values()) if (denial.count > 1) say({ ...denial })
      counts.clear()
    },
  }
}

/** Parses a line of the library: a host from its proxy, a path from the system's log on macOS. Null for other lines. */
export function readDenial(line: string): Omit<Denial, 'count'> | null {
  const [, host, port] = /\bdeny(?:\(\d+\))? network-outbound (\*:\d+|[^\s/]+?)(?::(\d+))?(?: \(|$)/.exec(line) ?? []
  if (host !== undefined) return { what: 'host', target: hostNamed(host.replace(/^\[|\]$/g, ''), port) }
  const [, access, path] = /\bdeny\(\d+\) file-(read|write)\S* (\/.*)$/.exec(line) ?? []
  return path === undefined ? null : { what: 'path', target: path, access: access === 'read' ? 'read' : 'write' }
}

/** Returns a host as it could be allowed: of this machine single ports, of others all. */
const hostNamed = (host: string, port: string | undefined): string =>
  port !== undefined && /^(?:localhost|127\.0\.0\.1|::1)$/i.test(host) ? `127.0.0.1:${port}` : host

const readOnly = /EROFS|read-only file system/i
const missing =
  /ENOENT|EACCES|no such file or directory|permission denied|not found|cannot find|does(?:n[’']t| not) exist/i
const colours = /\u001b\[[\d;]*m/g

/**
 * Returns the paths that programs report as in a read-only file system. On Linux that is how a contained run sees all
 * that it may not write, and nothing else reports it.
 */
export const readOnlyPaths = (text: string): readonly string[] => pathsBeside(readOnly, text)

/** Returns the paths that programs report as missing or forbidden, which is how a run sees what is hidden from it. */
export const missingPaths = (text: string): readonly string[] => pathsBeside(missing, text)

/** Returns the path that each line with a phrase names: the next one, else the one before. */
function pathsBeside(phrase: RegExp, text: string): readonly string[] {
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
