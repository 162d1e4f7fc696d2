import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { root } from './project.mjs'

const require = createRequire(import.meta.url)

/** In bytes, of all that is ours and our dependencies'; Electron itself comes on top. */
const mostBytes = 72 * 1024 * 1024
const places =
  /^(dist\/main\/|dist\/renderer\/|dist\/runner\/runner\.mjs$|assets\/[\w@]+\.png$|workflows\/[\w-]+\.yaml$|src-main\/store\/migrations\/(\d{4}_\w+\.sql|meta\/_journal\.json)$|node_modules\/|package\.json$|LICENSE$)/
const unwanted =
  /\.(ts|tsx|mts|cts|vue|map|md|pem|key|p12|env|db|log|sqlite)$|\.(test|spec)\.[cm]?js$|(^|\/)(tests?|__tests__)\/|(^|\/)\.[^/]+$/
/** Not within longer words: a module in base64 has every short one somewhere. */
const secrets =
  /(?<![\w+/])(gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60,}|sk-ant-[\w-]{40,}|AKIA[0-9A-Z]{16}|npm_[A-Za-z0-9]{36})(?![\w+/])|-----BEGIN [A-Z ]*PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}/

/** Native modules were compiled with them. */
const headers = new Set(['node-addon-api'])

/** What is wrong with a packed app, a sentence each, and a line that sums it up. */
export function problemsIn({ archive, app, entry, resources, licences }) {
  const files = filesBelow(app)
  const bytes = files.reduce((sum, file) => sum + statSync(join(app, file)).size, 0)
  const problems = [
    ...files.filter((file) => !places.test(file)).map((file) => `nobody knows what ${file} is for`),
    ...files.filter((file) => unwanted.test(file)).map((file) => `${file} has no place in a package`),
    ...files.filter((file) => hasSecret(join(app, file))).map((file) => `${file} holds a secret or a path of here`),
    ...nativeProblems(archive, files),
    ...importProblems(app, files),
  ]
  if (bytes > mostBytes) problems.push(`it is larger than ${mostBytes} bytes: ${bytes}`)
  const licencesText = readFileSync(join(resources, 'licences.txt'), 'utf8')
  for (const id of packedPackages(app, files))
    if (!licencesText.includes(`\n${id}\n`)) problems.push(`the licence of ${id} is not told`)
  for (const line of ['MimeType=x-scheme-handler/copse;', 'StartupWMClass=copse', 'Categories=Development;'])
    if (!entry.includes(`\n${line}\n`)) problems.push(`the desktop entry has no ${line}`)
  const packages = new Set(files.flatMap((file) => packageOf(file) ?? [])).size
  const summary = `${files.length} files, ${(bytes / 1024 / 1024).toFixed(1)} MB of at most ${mostBytes / 1024 / 1024}, ${packages} packages, ${licences.length} licences`
  return { problems, summary }
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
}

function hasSecret(file) {
  const text = readFileSync(file, 'latin1')
  return secrets.test(text) || text.includes(`${root}/`)
}

/** The system loads them, so they must lie beside the archive; and only those for this platform. */
function nativeProblems(archive, files) {
  const { statFile } = require('@electron/asar')
  const native = files.filter((file) => file.endsWith('.node'))
  const wanted = ['better-sqlite3', 'bcrypt', `@lydell/node-pty-linux-${process.arch}`]
  return [
    // Programs outside read it: a JVM in a box.
    ...files
      .filter((file) => file.includes('/sandbox-runtime/vendor/') && !statFile(archive, file).unpacked)
      .map((file) => `${file} cannot be read from within`),
    ...(files.some((file) => file.endsWith('/vendor/java-proxy-agent/srt-proxy-agent.jar'))
      ? []
      : ['what leads a JVM in a box to the proxy is missing']),
    ...native.filter((file) => !statFile(archive, file).unpacked).map((file) => `${file} cannot be loaded from within`),
    ...wanted
      .filter((name) => native.filter((file) => packageOf(file) === name).length !== 1)
      .map((name) => `${name} is there with no or more than one native module`),
  ]
}

/** What the main process starts in threads and processes, and the packages whose files it reads or starts so. */
const startedByName = ['dist/main/git-helper.js', 'dist/main/syntax-worker.js']
const readByName = ['@devcontainers/cli', '@vscode/tree-sitter-wasm', 'tree-sitter-c']

/** Follows the imports from the entries: all that is imported is there, and nothing is there for nothing. */
function importProblems(app, files) {
  const problems = []
  const reached = new Set()
  const bare = new Set()
  const waiting = ['dist/main/electron.js', 'dist/main/preload.cjs', ...startedByName]
  for (const name of readByName) bare.add(name)
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (reached.has(file)) continue
    reached.add(file)
    if (!existsSync(join(app, file))) {
      problems.push(`${file} is imported and not there`)
      continue
    }
    for (const name of importsOf(readFileSync(join(app, file), 'utf8'))) {
      if (name.startsWith('.')) waiting.push(join(dirname(file), name).split(sep).join('/'))
      else if (!isBuiltin(name) && name !== 'electron') bare.add(name)
    }
  }
  // The build makes files that only pass another one on, for the command line, under the same name.
  const passesOn = (file) => /^export \{[^}]*\} from "[^"]*";\s*(\/\/.*)?$/.test(readFileSync(join(app, file), 'utf8'))
  const ours = files.filter((file) => file.startsWith('dist/main/') && !reached.has(file) && !passesOn(file))
  const needed = packagesFor(app, bare, problems)
  const idle = new Set(files.flatMap((file) => packageOf(file) ?? []).filter((name) => !needed.has(name)))
  return [
    ...problems,
    ...ours.map((file) => `${file} is imported by nobody in the app`),
    ...[...idle].map((name) => `${name} is needed by nobody in the app`),
  ]
}

/** Texts that only look like an import name no package, those are in lower case, or are calls of a method. */
function importsOf(source) {
  const found = source.matchAll(/(?<!\.)(?:\bfrom|\bimport|\brequire)\s*\(?\s*["']((?:\.\.?\/|@|[a-z])[\w.@/:-]*)["']/g)
  return [...found].map(([, name]) => name)
}

/** Names of the packages that these imports load, with all that depends on them. */
function packagesFor(app, bare, problems) {
  const needed = new Set()
  const waiting = [...bare].map((name) => ({ name: nameOf(name), from: app, optional: false }))
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const folder = folderOf(next.name, next.from, app)
    if (folder === null && !next.optional && !headers.has(next.name))
      problems.push(`${next.name} is imported and not there`)
    if (folder === null || needed.has(folder)) continue
    needed.add(folder)
    const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const add = (names, optional) => {
      for (const name of Object.keys(names ?? {})) waiting.push({ name, from: folder, optional })
    }
    add({ ...about.optionalDependencies, ...about.peerDependencies }, true)
    add(about.dependencies, false)
  }
  return new Set([...needed].map((folder) => packageOf(`${relative(app, folder).split(sep).join('/')}/x`)))
}

/** As Node looks for it: here, then in every folder above, but not outside of the app. */
function folderOf(name, from, app) {
  for (let folder = from; folder.startsWith(app); folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
  }
  return null
}

/** The package at the top of node_modules in which a file is. */
function packageOf(file) {
  const [first, scope, name] = file.split('/')
  if (first !== 'node_modules') return null
  return scope.startsWith('@') ? `${scope}/${name}` : scope
}

function nameOf(specifier) {
  const [scope, name] = specifier.split('/')
  return scope.startsWith('@') ? `${scope}/${name}` : scope
}

/** With versions, as the licences name them; a package.json without a version belongs to a part of a package. */
function packedPackages(app, files) {
  return files.flatMap((file) => {
    if (!/node_modules\/(@[^/]+\/)?[^/]+\/package\.json$/.test(file)) return []
    const { name, version } = JSON.parse(readFileSync(join(app, file), 'utf8'))
    return name === undefined || version === undefined ? [] : [`${name} ${version}`]
  })
}
