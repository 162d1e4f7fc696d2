import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../support/project.mjs'

const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28 })

/**
 * Returns what differs between the commit `base` and the folder, new files included, as file → `{ before, after }`. Each
 * side is `{ text, lines }` with the numbers of the lines that only it has, or null where there is no such file.
 */
export function changedLines(base) {
  const changes = new Map()
  for (const file of listed(git('diff', '--name-only', '-z', '--no-renames', base))) {
    const patch = git('diff', '-U0', '--no-renames', '--no-color', '--no-ext-diff', base, '--', file)
    const hunks = [...patch.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)]
    changes.set(file, {
      before: sideOf(textAt(base, file), hunks, 1),
      after: sideOf(textHere(file), hunks, 3),
    })
  }
  for (const file of listed(git('ls-files', '-z', '--others', '--exclude-standard'))) {
    const text = textHere(file)
    if (text === null) continue
    changes.set(file, { before: null, after: { text, lines: new Set(text.split('\n').map((_, index) => index + 1)) } })
  }
  return changes
}

function listed(output) {
  return output.split('\0').filter((file) => file !== '')
}

function sideOf(text, hunks, at) {
  if (text === null) return null
  const lines = new Set()
  for (const hunk of hunks) {
    const start = Number(hunk[at])
    const count = Number(hunk[at + 1] ?? 1)
    for (let line = start; line < start + count; line++) lines.add(line)
  }
  return { text, lines }
}

function textAt(commit, file) {
  try {
    return execFileSync('git', ['show', `${commit}:${file}`], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return null
  }
}

function textHere(file) {
  try {
    return readFileSync(join(root, file), 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EISDIR') return null
    throw error
  }
}
