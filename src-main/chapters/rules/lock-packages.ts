import { parseJson } from '../../../src-shared/lang/parse-json.ts'
import type { ChangedSource } from './facts.ts'
import { lockReaders } from './lock-readers.ts'
import { asRecord } from './as-record.ts'

/** A package whose version changes; null on a side without it. */
export interface PackageChange {
  readonly name: string
  readonly from: string | null
  readonly to: string | null
}

/** A package in a lock file of npm. */
export interface LockedPackage {
  readonly version: string | null
  readonly licence: string | null
  /** Address that it is fetched from. */
  readonly resolved: string | null
  readonly has_install_script: boolean
}

const maxPackages = 200

/** Returns which packages the lock files among these change. */
export function changedPackages(files: readonly ChangedSource[]): readonly PackageChange[] {
  const changes = new Map<string, PackageChange>()
  for (const { path, old_mode, new_mode, old_text, new_text } of files) {
    const read = readerOf(path)
    // Of a side that is too large nothing is known.
    const isKnown = (old_mode === null || old_text !== null) && (new_mode === null || new_text !== null)
    if (read === null || !isKnown) continue
    const [before, after] = [read(old_text ?? ''), read(new_text ?? '')]
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const [from, to] = [before.get(name) ?? null, after.get(name) ?? null]
      if (from !== to) changes.set(name, { name, from, to })
    }
  }
  return [...changes.values()].sort((one, other) => (one.name < other.name ? -1 : 1)).slice(0, maxPackages)
}

/** Returns whether the packages of a lock file can be told. */
export const isReadLock = (path: string): boolean => readerOf(path) !== null

function readerOf(path: string): ((text: string) => ReadonlyMap<string, string>) | null {
  if (isNpmLock(path)) return npmVersions
  return lockReaders[path.slice(path.lastIndexOf('/') + 1)] ?? null
}

function npmVersions(text: string): ReadonlyMap<string, string> {
  return new Map([...readLock(text)].flatMap(([name, { version }]) => (version === null ? [] : [[name, version]])))
}

export const isNpmLock = (path: string): boolean => /(?:^|\/)(?:package-lock|npm-shrinkwrap)\.json$/.test(path)

/** Reads a lock file of npm (versions 2 and 3) by the names of its packages; of several copies the outermost counts. */
export function readLock(text: string | null): ReadonlyMap<string, LockedPackage> {
  const found = new Map<string, LockedPackage>()
  const { packages } = asRecord(text === null ? null : parseJson(text))
  for (const [place, value] of Object.entries(asRecord(packages))) {
    const name = place.split('node_modules/').at(-1) ?? ''
    if (name === '' || !place.includes('node_modules/') || found.has(name)) continue
    const { version, license, resolved, hasInstallScript } = asRecord(value)
    found.set(name, {
      version: typeof version === 'string' ? version : null,
      licence: typeof license === 'string' ? license : null,
      resolved: typeof resolved === 'string' ? resolved : null,
      has_install_script: hasInstallScript === true,
    })
  }
  return found
}
