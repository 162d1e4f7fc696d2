import { existsSync, readFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from '../support/project.mjs'

/** Folders whose files a test may run. */
const watched = /^(src-main|src-shared|src-renderer|scripts)\//

/**
 * Returns which functions were called, as file → set of names, from the scripts of V8's precise coverage
 * (`{ url, functions }`). A function without a name counts as the nearest one with a name around it; `''` is code of the
 * module itself. Bundles are read by their source maps, without which they are left out.
 */
export function calledFunctions(scripts) {
  const called = new Map()
  for (const { url, functions } of scripts) {
    const place = placeOf(url)
    if (place === null) continue
    for (const { name, end } of withNames(functions)) {
      // The head of a component is the compiler's and has no source; its last lines have.
      const file = place.fileAt(end - 1)
      if (file === null) continue
      const names = called.get(file) ?? new Set()
      called.set(file, names)
      names.add(name)
    }
  }
  return called
}

/** Called functions with the name they count as. */
function withNames(functions) {
  const sorted = functions
    .map(({ functionName, ranges: [{ startOffset, endOffset, count }] }) => {
      return { name: plainName(functionName), start: startOffset, end: endOffset, count }
    })
    .sort((a, b) => a.start - b.start || b.end - a.end)
  const around = []
  const found = []
  for (const one of sorted) {
    while (around.length > 0 && around.at(-1).end <= one.start) around.pop()
    const name = one.name === '' ? (around.at(-1)?.name ?? '') : one.name
    if (one.count > 0) found.push({ name, end: one.end })
    around.push({ name, end: one.end })
  }
  return found
}

/** As the source has it: bundlers number names that two files share, V8 tells accessors apart. */
const plainName = (name) => name.replace(/^(get|set) /, '').replace(/\$\d+$/, '')

const places = new Map()

/** Tells the source file of an offset in a script; null for scripts that aren't the project's. */
function placeOf(url) {
  if (!places.has(url)) places.set(url, findPlace(url))
  return places.get(url)
}

function findPlace(url) {
  const path = pathOf(url)
  if (path === null) return null
  const file = relative(root, path).split(sep).join('/')
  if (watched.test(file)) return { fileAt: () => file }
  if (!file.startsWith('dist/') || !existsSync(`${path}.map`)) return null
  const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, 'utf8')))
  const starts = lineStarts(readFileSync(path, 'utf8'))
  return { fileAt: (offset) => sourceAt(map, starts, path, offset) }
}

/** Pages are served from the folder of the built page. */
function pathOf(url) {
  if (url.startsWith('/')) return url.split('?', 1)[0]
  if (url.startsWith('file:')) return fileURLToPath(url.split('?', 1)[0])
  const page = /^(?:https?:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?|copse:\/\/[^/]+)\/(assets\/[^?#]+)/.exec(url)
  return page === null ? null : join(root, 'dist', 'renderer', page[1])
}

function lineStarts(text) {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

function sourceAt(map, starts, path, offset) {
  if (offset === 0) return null
  let low = 0
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (starts[middle] <= offset) low = middle
    else high = middle
  }
  const { originalSource } = map.findEntry(low, offset - starts[low])
  if (originalSource === undefined) return null
  const file = relative(root, resolve(dirname(path), originalSource.replace(/^file:\/\//, '')))
    .split(sep)
    .join('/')
  return watched.test(file) ? file : null
}
