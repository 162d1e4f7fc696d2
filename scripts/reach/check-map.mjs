import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { root, seconds } from '../support/project.mjs'
import { changedLines } from './changed-lines.mjs'
import { readMap } from './map-file.mjs'
import { createOwners } from './owners.mjs'
import { pickTests } from './pick-tests.mjs'

// node scripts/run.mjs node scripts/reach/check-map.mjs [--count 50] [--seed 1] [--lines] [--limit 150]
// Plants one fault after the other in random source files and runs the tests that `npm run test:changed` picks for it,
// tests named like the file and the shortest first, until one fails. A fault that none notices is told. Without --lines
// each fault makes a function throw that some test calls; with it, it turns a condition, a comparison or a sum of the
// engine around.
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
    limit: { type: 'string', default: '150' },
    lines: { type: 'boolean', default: false },
  },
})
if (changedLines('HEAD').size > 0)
  throw new Error('Commit or stash your changes first: faults are planted in your files.')

const turned = new Map([
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.LessThanToken, '>='],
  [ts.SyntaxKind.GreaterThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '>'],
  [ts.SyntaxKind.GreaterThanEqualsToken, '<'],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
])

const engine = /^src-main\/(domain|engine|tasks|landing|reviews)\//
const map = readMap()
const random = randomFrom(Number(values.seed))
const pool = [...new Set(map.entries().map(([file]) => file))].filter(
  (file) => (values.lines ? engine.test(file) : /^src-/.test(file)) && /\.(ts|vue)$/.test(file),
)
const outcomes = []
while (outcomes.length < Number(values.count) && pool.length > 0) {
  const [file] = pool.splice(Math.floor(random() * pool.length), 1)
  const before = readFileSync(join(root, file), 'utf8')
  const fault = values.lines ? turnAround(file, before) : letThrow(file, before)
  if (fault === null) continue
  const since = performance.now()
  try {
    writeFileSync(join(root, file), fault.text)
    const { outcome: first, tests } = tryTests(file)
    writeFileSync(join(root, file), before)
    // Tests that fail without the fault, too, have not noticed it.
    const outcome = first === 'noticed' && passes(tests, 120_000) !== true ? 'unsound' : first
    outcomes.push(outcome)
    console.log(`${outcome.padEnd(8)} ${file}:${fault.line} ${fault.what} (${seconds(since)})`)
  } finally {
    writeFileSync(join(root, file), before)
  }
}
for (const outcome of ['noticed', 'missed', 'no time', 'unsound']) {
  console.log(`${outcome}: ${outcomes.filter((one) => one === outcome).length} of ${outcomes.length}`)
}
process.exit(outcomes.includes('missed') ? 1 : 0)

/** Runs what is picked; `tests` are those among which one failed. */
function tryTests(file) {
  const words = wordsOf(file)
  const likeness = (test) => wordsOf(test).intersection(words).size
  const order = pickTests('HEAD')
    .tests.filter((test) => !test.startsWith('test/architecture/'))
    .sort((a, b) => likeness(b) - likeness(a) || (map.seconds[a] ?? 0) - (map.seconds[b] ?? 0))
  const until = performance.now() + Number(values.limit) * 1000
  // A few at once, so that the likeliest ones answer first.
  for (let size = 4; order.length > 0; size *= 2) {
    const tests = order.splice(0, size)
    const left = until - performance.now()
    const passed = left < 1_000 ? null : passes(tests, left)
    if (passed !== true) return { outcome: passed === null ? 'no time' : 'noticed', tests }
  }
  return { outcome: 'missed', tests: [] }
}

function wordsOf(path) {
  return new Set(path.split(/[^a-z]+/).filter((word) => !/^(src|test|main|integration|unit|ts|vue|)$/.test(word)))
}

/** Null: they did not end in time. */
function passes(tests, ms) {
  const { status, signal } = spawnSync('npx', ['vitest', 'run', '--bail=1', ...tests], {
    cwd: root,
    stdio: 'ignore',
    timeout: Math.ceil(ms),
    env: { ...process.env, COPSE_SWEEP_PART: '0' },
  })
  return signal === null ? status === 0 : null
}

/** Lets one of the functions that tests call throw; null if the file has none with a body. */
function letThrow(file, text) {
  const found = nodesOf(
    file,
    text,
    (node) => ts.isFunctionLike(node) && node.body !== undefined && ts.isBlock(node.body),
  )
  const called = found.filter((node) => isCalled(file, text, node.body))
  if (called.length === 0) return null
  const { body } = called[Math.floor(random() * called.length)]
  const at = body.getStart() + 1
  return {
    ...placeIn(text, at),
    what: 'throws',
    text: `${text.slice(0, at)} if (Date.now() > 1) throw new Error('planted');${text.slice(at)}`,
  }
}

function turnAround(file, text) {
  const found = nodesOf(file, text, (node) => turned.has(node.kind) && ts.isBinaryExpression(node.parent))
  const called = found.filter((node) => isCalled(file, text, node))
  if (called.length === 0) return null
  const node = called[Math.floor(random() * called.length)]
  const to = turned.get(node.kind)
  return {
    ...placeIn(text, node.getStart()),
    what: `${node.getText()} → ${to}`,
    text: `${text.slice(0, node.getStart())}${to}${text.slice(node.getEnd())}`,
  }
}

function placeIn(text, at) {
  return { line: text.slice(0, at).split('\n').length }
}

/** Whether some test called the function around the node. */
function isCalled(file, text, node) {
  const { line } = placeIn(text, node.getStart())
  const owners = createOwners(file, text).ofLines(new Set([line]))
  return owners.some((owner) => owner.function && (map.testsOf(file, owner.name)?.length ?? 0) > 0)
}

function nodesOf(file, text, fits) {
  const script = file.endsWith('.vue') ? (/<script[^>]*>[\s\S]*?<\/script>/.exec(text)?.[0] ?? '') : text
  const offset = file.endsWith('.vue') ? text.indexOf(script) : 0
  const body = file.endsWith('.vue') ? blank(text, offset, script) : text
  const source = ts.createSourceFile(`${file}.ts`, body, ts.ScriptTarget.Latest, true)
  const found = []
  const visit = (node) => {
    if (fits(node)) found.push(node)
    for (const child of node.getChildren(source)) visit(child)
  }
  visit(source)
  return found
}

/** The component's script at its place, everything else empty. */
function blank(text, offset, script) {
  const open = script.indexOf('>') + 1
  const inner = script.slice(open, script.lastIndexOf('</script>'))
  return `${' '.repeat(offset + open)}${inner}`
}

/** Mulberry32: the same faults for the same seed. */
function randomFrom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
