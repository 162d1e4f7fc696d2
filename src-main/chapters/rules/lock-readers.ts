import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import { asRecord } from './as-record.ts'

// Each reader takes the lines that name a package and its version, as the tool writes them, and leaves out all others:
// nothing that a branch writes can make it fail or take long.

/** Versions by the name of the package; several of one package in the order of their names. */
type Versions = ReadonlyMap<string, string>

/** Readers of lock files by the file's name. */
export const lockReaders: Readonly<Record<string, (text: string) => Versions>> = {
  'yarn.lock': readYarn,
  'pnpm-lock.yaml': readPnpm,
  'Cargo.lock': readTomlPackages,
  'poetry.lock': readTomlPackages,
  'uv.lock': readTomlPackages,
  'go.sum': readGoSum,
  'Gemfile.lock': readGemfile,
  'composer.lock': readComposer,
}

type Found = readonly [name: string, version: string]

const maxLength = 200

function collect(found: Iterable<Found>): Versions {
  const all = new Map<string, Set<string>>()
  for (const [name, version] of found) {
    if (name === '' || version === '' || name.length > maxLength || version.length > maxLength) continue
    const known = all.get(name)
    if (known) known.add(version)
    else all.set(name, new Set([version]))
  }
  return new Map([...all].map(([name, versions]) => [name, [...versions].sort().join(', ')]))
}

const linesOf = (text: string): readonly string[] => text.split(/\r?\n/).filter((line) => line.length < 1_000)

/** `"@scope/name@^1.0.0", …:` and below it `version "1.0.1"`, since version 2 `version: 1.0.1`. */
function readYarn(text: string): Versions {
  const found: Found[] = []
  let name = ''
  for (const line of linesOf(text)) {
    if (/^[^\s#].*:$/.test(line)) {
      const first = line.replace(/^"/, '')
      const end = first.indexOf('@', 1)
      name = end < 0 ? '' : first.slice(0, end)
      continue
    }
    const version = /^ {2}version:? "?([^"\s]+)"?$/.exec(line)?.[1]
    if (version !== undefined) found.push([name, version])
  }
  return collect(found)
}

/** In `packages:`, `name@1.0.0(peer@2.0.0):`; before version 6 `/name/1.0.0_peer@2.0.0:`. */
function readPnpm(text: string): Versions {
  const found: Found[] = []
  let isInside = false
  for (const line of linesOf(text)) {
    if (/^\S/.test(line)) isInside = line.startsWith('packages:')
    const key = isInside ? /^ {2}(['"]?)\/?([^\s'"]+)\1:/.exec(line)?.[2] : undefined
    const [, name, version] = key === undefined ? [] : (/^((?:@[^/@]+\/)?[^/@]+)[@/]([^(_]+)/.exec(key) ?? [])
    if (name !== undefined && version !== undefined) found.push([name, version])
  }
  return collect(found)
}

/** `[[package]]`, then `name = "…"` and `version = "…"`. */
function readTomlPackages(text: string): Versions {
  const found: Found[] = []
  let name = ''
  let isPackage = false
  for (const line of linesOf(text)) {
    if (line.startsWith('[')) {
      isPackage = line.trim() === '[[package]]'
      name = ''
      continue
    }
    const [, key, value] = isPackage ? (/^(name|version) = "([^"]+)"$/.exec(line.trimEnd()) ?? []) : []
    if (key === 'name') name = value ?? ''
    if (key === 'version' && value !== undefined) found.push([name, value])
  }
  return collect(found)
}

/** `example.com/module v1.0.0 h1:…`; the line of its `go.mod` alone brings no code. */
function readGoSum(text: string): Versions {
  return collect(
    linesOf(text).flatMap((line): readonly Found[] => {
      const [name = '', version = '', hash] = line.split(' ')
      return hash?.startsWith('h1:') === true && !version.endsWith('/go.mod') ? [[name, version]] : []
    }),
  )
}

/** In a list of `specs:`, packages have four spaces and what they need has six. */
function readGemfile(text: string): Versions {
  return collect(
    linesOf(text).flatMap((line): readonly Found[] => {
      const [, name, version] = /^ {4}(\S+) \(([^()\s]+)\)$/.exec(line) ?? []
      return name !== undefined && version !== undefined ? [[name, version]] : []
    }),
  )
}

function readComposer(text: string): Versions {
  const lock = asRecord(parseJson(text))
  const all = [lock['packages'], lock['packages-dev']].flatMap((list): unknown[] => (Array.isArray(list) ? list : []))
  return collect(
    all.flatMap((one): readonly Found[] => {
      const { name, version } = asRecord(one)
      return typeof name === 'string' && typeof version === 'string' ? [[name, version]] : []
    }),
  )
}
