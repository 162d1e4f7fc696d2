import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from './support/lock.mjs'
import { npm } from './support/npm.mjs'
import { root, say, seconds } from './support/project.mjs'

const stamp = join(root, 'node_modules', '.copse-setup')

/** Installs what package-lock.json asks for unless it is installed already. `bin`: the folder of Node. */
export async function ensureDependencies(bin) {
  if (readText(stamp) === wantedStamp()) return
  await withLock('setup', async () => {
    if (readText(stamp) === wantedStamp()) return
    if (!alreadyInstalled()) await install(bin)
    writeFileSync(stamp, wantedStamp())
  })
}

async function install(bin) {
  const since = performance.now()
  say('installing the dependencies (once, about half a minute) …')
  await npm(['ci', '--include=dev', '--include=optional'], { cwd: root, bin: [bin], what: 'npm ci' })
  say(`the dependencies are here (${seconds(since)})`)
}

function wantedStamp() {
  const lock = readFileSync(join(root, 'package-lock.json'))
  return `${process.platform}-${process.arch} ${createHash('sha256').update(lock).digest('hex')}\n`
}

/** npm writes this hidden lock last, so it tells what a person's own `npm install` has completed. */
function alreadyInstalled() {
  const installed = readJson(join(root, 'node_modules', '.package-lock.json'))?.packages
  if (!installed) return false
  const wanted = Object.entries(readJson(join(root, 'package-lock.json')).packages)
  return wanted.every(([path, entry]) => {
    if (path === '' || entry.link) return true
    const have = installed[path]
    // Optional ones may be for another platform; where one is installed, it must be the right one.
    if (!have) return entry.optional === true || entry.devOptional === true || entry.peer === true
    return have.version === entry.version && have.integrity === entry.integrity
  })
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  }
}

function readJson(file) {
  const text = readText(file)
  return text === null ? null : JSON.parse(text)
}
