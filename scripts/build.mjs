import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { capture, withPath } from './support/child.mjs'
import { withLock } from './support/lock.mjs'
import { SetupError, root, say, seconds } from './support/project.mjs'

const stamp = join(root, 'dist', '.copse-build')
const sources = ['src-main', 'src-shared', 'src-renderer']
const singles = ['vite.config.ts', 'package.json', 'package-lock.json', 'tsconfig.json']

/** Builds window, main process and CLI into dist unless the sources are those of the last build. */
export async function ensureBuilt(bin, environment = process.env) {
  if (isFresh()) return
  await withLock('build', async () => {
    if (isFresh()) return
    const built = stampOf(sourcesFingerprint(), sourcesTimes())
    const since = performance.now()
    say('building …')
    const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
    const { code, output } = await capture('node', [vite, 'build', '--app', '--logLevel', 'warn'], {
      cwd: root,
      env: withPath([bin], { ...environment, NODE_ENV: 'production' }),
    })
    if (code !== 0) throw new SetupError(`the build failed:\n${output.trim()}`)
    writeFileSync(stamp, built)
    say(`built (${seconds(since)})`)
  })
}

/** What was built, and when its files were written: where that is the same nobody has to read them. */
const stampOf = (fingerprint, times) => `${fingerprint}\n${times}`

function isFresh() {
  let built
  try {
    built = readFileSync(stamp, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return false
    throw error
  }
  const [fingerprint, times] = built.split('\n')
  const now = sourcesTimes()
  if (times === now) return true
  if (fingerprint !== sourcesFingerprint()) return false
  writeFileSync(stamp, stampOf(fingerprint, now))
  return true
}

/** By content, not by time: switching a branch there and back needs no build. */
function sourcesFingerprint() {
  const hash = createHash('sha256')
  for (const file of sourceFiles()) {
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0')
  }
  return hash.digest('hex')
}

function sourcesTimes() {
  const hash = createHash('sha256')
  for (const file of sourceFiles()) {
    const { mtimeMs, size } = statSync(file)
    hash.update(`${relative(root, file)}\0${mtimeMs}\0${size}\0`)
  }
  return hash.digest('hex')
}

const sourceFiles = () => [...sources.flatMap(filesBelow), ...singles.map((name) => join(root, name))]

function filesBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
}
