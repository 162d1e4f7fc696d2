import { parseJson } from '../../../../src-shared/lang/parse-json.ts'
import type { ChangedSource, ChangeFacts } from '../facts.ts'
import type { Hunk } from '../hunk.ts'
import { asRecord } from '../as-record.ts'
import { isNpmLock, readLock } from '../lock-packages.ts'
import { addedLines, removedLines, type FoundRisk, type RiskRule } from './risk.ts'

const isPackageJson = (path: string): boolean => /(?:^|\/)package\.json$/.test(path)
const dependencyFields = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
/** Addresses that are no registry: what is fetched there can change without a new version. */
const elsewhere = /^(?:git|github:|gitlab:|bitbucket:|https?:|file:|link:)/
const installScripts = new Set(['preinstall', 'install', 'postinstall', 'prepare', 'preprepare', 'postprepare'])

/** Packages that are new, or come from somewhere else than before. */
export const dependency: RiskRule = (file, facts) => {
  if (isPackageJson(file.path)) return packageJsonRisks(file, facts)
  if (isNpmLock(file.path)) return lockRisks(file)
  const name = /(?:^|\/)requirements[\w.-]*\.txt$/.test(file.path)
    ? /^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*(?:[=<>~!@;]|$)/
    : /(?:^|\/)go\.mod$/.test(file.path)
      ? /^\s*(?:require\s+)?([\w.-]+\.[\w.-]+\/\S+)\s+v\d/
      : null
  if (name === null) return []
  const before = new Set(removedLines(file).map(({ text }) => name.exec(text)?.[1]))
  return addedLines(file).flatMap(({ text, line, hunk }) => {
    const found = name.exec(text)?.[1]
    return found === undefined || before.has(found) ? [] : [newPackage(found, null, { line, hunk })]
  })
}

interface Place {
  readonly line: number | null
  readonly hunk: Hunk
}

function newPackage(name: string, licence: string | null, { line, hunk }: Place): FoundRisk {
  const text = licence === null ? `The package “${name}” is new.` : `The package “${name}” is new, under ${licence}.`
  return { level: 'low', text, line, hunk }
}

function packageJsonRisks(file: ChangedSource, { files }: ChangeFacts): readonly FoundRisk[] {
  const versions = (text: string | null): ReadonlyMap<string, string> => {
    const all = asRecord(text === null ? null : parseJson(text))
    return new Map(
      dependencyFields.flatMap((field) =>
        Object.entries(asRecord(all[field])).map(([name, version]) => [name, String(version)] as const),
      ),
    )
  }
  const [before, after] = [versions(file.old_text), versions(file.new_text)]
  const lock = files.filter(({ path }) => isNpmLock(path)).map(({ new_text }) => readLock(new_text))
  return [...after].flatMap(([name, version]) => {
    const place = placeOf(file, `"${name}"`)
    if (place === null || before.get(name) === version) return []
    if (elsewhere.test(version) && !elsewhere.test(before.get(name) ?? ''))
      return [{ level: 'high', text: `The package “${name}” does not come from the registry.`, ...place } as const]
    if (before.has(name)) return []
    const licence = lock.map((packages) => packages.get(name)?.licence ?? null).find((one) => one !== null) ?? null
    return [newPackage(name, licence, place)]
  })
}

const registry = /^https:\/\/(?:registry\.npmjs\.org|registry\.yarnpkg\.com)\//

/** Lock files edited by hand: a package whose content comes from somewhere else than its name says. */
function lockRisks(file: ChangedSource): readonly FoundRisk[] {
  const [before, after] = [readLock(file.old_text), readLock(file.new_text)]
  // A project may use a registry of its own.
  const known = new Set([...before.values()].flatMap(({ resolved }) => hostOf(resolved) ?? []))
  return [...after].flatMap(([name, { resolved }]) => {
    const old = before.get(name)?.resolved ?? null
    if (resolved === null || resolved === old || registry.test(resolved)) return []
    const place = placeOf(file, resolved)
    const isOddHost = !known.has(hostOf(resolved) ?? '')
    if (place === null || !isOddHost) return []
    return [
      { level: 'high', text: `The package “${name}” comes from another place than the others.`, ...place } as const,
    ]
  })
}

function hostOf(address: string | null): string | null {
  return address === null ? null : (/^[a-z+]+:\/\/([^/]+)\//.exec(address)?.[1] ?? null)
}

/** Programs that run while packages are installed. */
export const installScript: RiskRule = (file) => {
  if (isPackageJson(file.path)) {
    const scripts = (text: string | null) => asRecord(asRecord(text === null ? null : parseJson(text))['scripts'])
    const [before, after] = [scripts(file.old_text), scripts(file.new_text)]
    return Object.entries(after).flatMap(([name, command]) => {
      const place = placeOf(file, `"${name}"`)
      if (!installScripts.has(name) || before[name] === command || place === null) return []
      return [{ level: 'high', text: `The script “${name}” runs at each installation.`, ...place } as const]
    })
  }
  if (!isNpmLock(file.path)) return []
  const [before, after] = [readLock(file.old_text), readLock(file.new_text)]
  const place = placeOf(file, '"hasInstallScript"') ?? firstPlace(file)
  if (place === null) return []
  return [...after].flatMap(([name, { has_install_script: hasScript }]) => {
    if (!hasScript || before.get(name)?.has_install_script === true) return []
    return [{ level: 'high', text: `The package “${name}” runs a program when it is installed.`, ...place } as const]
  })
}

/** Returns the added line that contains a text; the first hunk if git shows no lines of the file. */
function placeOf(file: ChangedSource, text: string): Place | null {
  const found = addedLines(file).find((added) => added.text.includes(text))
  if (found) return { line: found.line, hunk: found.hunk }
  return file.hunks.some(({ cause }) => cause === 'large') ? firstPlace(file) : null
}

function firstPlace({ hunks }: ChangedSource): Place | null {
  return hunks[0] ? { line: null, hunk: hunks[0] } : null
}
