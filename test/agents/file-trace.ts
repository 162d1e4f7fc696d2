import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** What a program did with files, by their absolute paths. */
export interface FileTrace {
  readonly read: readonly string[]
  /** What it looked for and did not find. */
  readonly missing: readonly string[]
  readonly written: readonly string[]
  /** Writes that the system did not let through, with its error. */
  readonly refused: readonly string[]
  /** Existing names over which a file was renamed, or where that was tried. */
  readonly renamedOver: readonly string[]
}

/** Returns a script that runs a program under strace and writes its trace into a folder. */
export const tracing = (program: string, folder: string): string =>
  [
    '#!/bin/sh',
    `trace=$(mktemp ${quoted(join(folder, 'trace-XXXXXX'))})`,
    `exec strace -D -f -qq -y -s 4096 --seccomp-bpf -e trace=%file -e signal=none -o "$trace" ${quoted(program)} "$@"`,
    '',
  ].join('\n')

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Reads every trace in a folder, as far as paths fit. */
export function readTraces(folder: string, fits: (path: string) => boolean): FileTrace {
  const read = new Set<string>()
  const missing = new Set<string>()
  const written = new Set<string>()
  const refused = new Set<string>()
  const renamedOver = new Set<string>()
  const known = new Set<string>()
  for (const { name, args, error } of readdirSync(folder).flatMap((file) => callsIn(join(folder, file)))) {
    const paths = pathsIn(args)
    const path = paths.at(-1)
    if (path === undefined || !fits(path)) continue
    const writes = changing.test(name) || (/^open/.test(name) && /O_WRONLY|O_RDWR|O_CREAT/.test(args))
    if (writes && refusals.has(error)) refused.add(`${path} (${name} ${error})`)
    if (writes && error === '') written.add(path)
    if (/^rename/.test(name) && (known.has(path) || refusals.has(error))) renamedOver.add(path)
    if (!writes && error === '' && /^(?:open|exec|readlink)/.test(name)) read.add(path)
    if (!writes && error === 'ENOENT') missing.add(path)
    if (error === '') known.add(path)
  }
  return {
    read: [...read],
    missing: [...missing],
    written: [...written],
    refused: [...refused],
    renamedOver: [...renamedOver],
  }
}

const changing = /^(?:mkdir|rename|unlink|rmdir|symlink|link|chmod|fchmodat|chown|lchown|utime|truncate|mknod)/
const refusals = new Set(['EROFS', 'EACCES', 'EPERM', 'EBUSY', 'EXDEV'])

interface Call {
  readonly name: string
  readonly args: string
  /** Empty if it succeeded. */
  readonly error: string
}

function callsIn(file: string): Call[] {
  const waiting = new Map<string, string>()
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, pid = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? []
      if (rest.endsWith('<unfinished ...>')) {
        waiting.set(pid, rest.slice(0, -'<unfinished ...>'.length))
        return []
      }
      const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest)?.[1]
      const whole = resumed === undefined ? rest : `${waiting.get(pid) ?? ''}${resumed}`
      const [, name, args = '', result = ''] = /^(\w+)\((.*)\)\s+= (.*)$/.exec(whole) ?? []
      if (name === undefined) return []
      return [{ name, args, error: /^-1 (E\w+)/.exec(result)?.[1] ?? '' }]
    })
}

/** Returns the paths among the arguments; a relative one starts at the folder before it, which `-y` shows. */
function pathsIn(args: string): string[] {
  return [...args.matchAll(/(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"/g)].flatMap(([, from, path = '']) => {
    if (path === '') return []
    if (path.startsWith('/')) return [resolve(path)]
    return from === undefined ? [] : [resolve(from, path)]
  })
}
