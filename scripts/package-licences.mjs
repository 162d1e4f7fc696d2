import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SetupError, root } from './support/project.mjs'

/** Where the build leaves the licences; the package takes them from there. */
export const licencesFile = join(root, 'dist', 'licences.txt')

const line = '-'.repeat(80)
/** Licences that ask for no more than to be named; anything else needs a person's look before it is shipped. */
const permissive =
  /^(MIT|MIT-0|ISC|Apache-2\.0|BSD-[23]-Clause|0BSD|BlueOak-1\.0\.0|PSF-2\.0|Python-2\.0|OFL-1\.1|Unlicense|CC0-1\.0)$/i

/**
 * Writes the licence of every package whose code is in the app: what the sources import, with all that depends on it,
 * whether Vite bundles it or it is packed as it is. Answers their names with versions.
 */
export function writeLicences() {
  const packages = [...includedPackages().values()].sort((one, other) => (one.id < other.id ? -1 : 1))
  const doubtful = packages.filter(({ licence }) => !isPermissive(licence))
  if (doubtful.length > 0) {
    const names = doubtful.map(({ id, licence }) => `${id} (${licence})`).join(', ')
    throw new SetupError(`the package would hold code under licences that nobody has looked at: ${names}`)
  }
  const head = 'Copse is under the Apache License 2.0. It contains the following software of others.\n'
  const parts = packages.map(({ id, licence, text }) => `${line}\n${id}\nLicence: ${licence}\n\n${text}\n`)
  mkdirSync(dirname(licencesFile), { recursive: true })
  writeFileSync(licencesFile, [head, ...parts].join('\n'))
  return packages.map(({ id }) => id)
}

function isPermissive(licence) {
  return licence
    .replace(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((one) => permissive.test(one.trim())))
}

function includedPackages() {
  const found = new Map()
  const waiting = importedNames().map((name) => ({ name, from: root, needed: true }))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const folder = folderOf(next.name, next.from)
    if (folder === null) {
      if (next.needed) throw new SetupError(`${next.name} is not installed: run npm ci`)
      continue
    }
    const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const id = `${about.name} ${about.version}`
    if (found.has(id)) continue
    found.set(id, { id, licence: licenceOf(about), text: textIn(folder, about) })
    for (const name of Object.keys(about.dependencies ?? {})) waiting.push({ name, from: folder, needed: true })
    for (const name of Object.keys({ ...about.optionalDependencies, ...about.peerDependencies }))
      waiting.push({ name, from: folder, needed: false })
  }
  return found
}

/** Packages that the sources load; types alone come with no code, but naming them does no harm. */
function importedNames() {
  const names = new Set()
  for (const folder of ['src-main', 'src-shared', 'src-renderer']) {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || !/\.(ts|vue|css)$/.test(entry.name)) continue
      const source = readFileSync(join(entry.parentPath, entry.name), 'utf8')
      for (const [, name] of source.matchAll(
        /(?:from|import|resolve)\s*\(?\s*'((?:@[\w.-]+\/)?[a-z][\w.-]*)(?:\/[^']*)?'/g,
      ))
        names.add(name)
    }
  }
  names.delete('electron')
  return [...names].filter((name) => existsSync(join(root, 'node_modules', name)))
}

/** As Node looks for it: here, then in every folder above. */
function folderOf(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (folder === root || folder === dirname(folder)) return null
  }
}

function licenceOf({ license, licenses }) {
  if (typeof license === 'string') return license
  return license?.type ?? licenses?.map(({ type }) => type).join(' OR ') ?? 'none named'
}

function textIn(folder, about) {
  const files = readdirSync(folder).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
  const texts = files.sort().map((name) => readFileSync(join(folder, name), 'utf8').trim())
  if (texts.length > 0) return texts.join('\n\n')
  const author = typeof about.author === 'object' ? about.author.name : about.author
  return author === undefined ? 'The package brings no text of its licence.' : `Copyright ${author}`
}
