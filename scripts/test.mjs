import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { constants } from 'node:os'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { ensureBuilt } from './build.mjs'
import { ensureNode } from './node.mjs'
import { ensureDependencies } from './setup.mjs'
import { capture, runAs, withPath } from './support/child.mjs'
import { createMemoryFolder } from './support/memory-folder.mjs'
import { failWith, root, seconds } from './support/project.mjs'
import { ensureTestTools, quickFork } from './test-tools.mjs'

// npm test: every check and every test. npm test -- PATTERN: only the test files whose path has PATTERN.
// npm run test:quick: what needs no running service, and the types. npm run test:changed [-- BASE]: what the changes since
// a commit can reach, by a map that npm test -- --map remakes.
const results = join(root, 'test-results')
const total = { passed: 0, failed: 0, skipped: 0 }
/**
 * Returns what a test has freed to the system. To start a program copies the page tables of the process that starts it,
 * and the tests start thousands of programs: this saves a third of the time that they spend in the kernel.
 */
const smallProcesses = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '131072' }
/** When the tests must be done, for a machine that judges changes and is given so long; null for no limit. */
const minutes = Number(process.env.COPSE_TEST_MINUTES) || null
const begun = Date.now()
/** The test files for which there was no time. */
const untested = []
/** What failed, a line each: told once more at the end, where it is not lost among what passed. */
const failures = []
/** What was not tested and how to get it, in one sentence; null if all was. */
let leftOut = null

try {
  const patterns = process.argv.slice(2)
  const bin = await ensureNode()
  await ensureDependencies(bin)
  rmSync(results, { recursive: true, force: true })
  mkdirSync(results, { recursive: true })
  const library = await quickFork(bin)
  const memory = createMemoryFolder()
  if (memory !== null) process.on('exit', memory.remove)
  const env = {
    ...withPath([bin, join(root, 'node_modules', '.bin')]),
    // Services and commands that tests start from their sources need not compile them anew each time.
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'node-compile'),
    ...smallProcesses,
    ...(library !== null && { COPSE_QUICK_FORK: library }),
    ...(memory !== null && { COPSE_TEST_MEMORY: memory.path }),
  }
  if (patterns[0] === '--changed') {
    await changed(patterns[1] ?? upstream(), env)
  } else if (patterns[0] === '--quick') {
    const folders = ['test/unit', 'test/contract', 'test/architecture']
    await Promise.all([
      vitest('unit, contract, architecture', ['--project', '!e2e', ...folders], env),
      check('types', env, 'node', 'scripts/check-types.mjs'),
    ])
  } else if (patterns[0] === '--map') {
    const some = patterns.slice(1)
    const run = (all) => (some.length > 0 ? vitest('tests', some, all) : everything(bin, all))
    await withMap((recorded) => run({ ...env, ...recorded }))
  } else if (patterns.length > 0) {
    await vitest('tests', patterns, env)
  } else {
    await everything(bin, env)
  }
} catch (error) {
  failWith(error)
}
if (failures.length > 0) console.log(`\nFailed:\n${failures.map((line) => `  ${line}`).join('\n')}`)
if (leftOut !== null) {
  console.log(`\nLeft out: ${leftOut}`)
  // A machine that judges changes must judge these, too.
  if (process.env.CI) total.failed += 1
}
if (untested.length > 0)
  console.log(
    `\nNo time was left for ${untested.length} test files:\n${untested.map((file) => `  ${file}`).join('\n')}`,
  )
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : ''
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`)
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0)

/** The environment of a run that sweeps over a part: another one for each commit. */
function sweepPart() {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' })
  const part = Number.parseInt(stdout.slice(0, 2), 16) % 4 || 0
  console.log(`Sweeps: part ${part + 1} of 4`)
  return { COPSE_SWEEP_PART: String(part) }
}

async function everything(bin, all) {
  const env = { ...all, ...(process.env.CI && sweepPart()) }
  leftOut = await ensureTestTools()
  await stage('build', () => ensureBuilt(bin, env))
  await Promise.all([
    vitest('unit, integration, contract, architecture', ['--project', '!e2e'], { ...env, ...limit(0.62) }),
    checks(env),
  ])
  await vitest('end to end', ['--project', 'e2e'], { ...env, ...limit(1) })
}

/** The environment of a stage that has to end when this part of all the time has passed. */
function limit(part) {
  return minutes === null ? {} : { COPSE_TESTS_UNTIL: String(begun + part * minutes * 60_000) }
}

/** What the changes since a commit can reach, each sweep over a sample. */
async function changed(base, env) {
  const { pickTests } = await import('./reach/pick-tests.mjs')
  const { tests, seconds: expected, all, why } = pickTests(base)
  const reason = why === null ? '' : ` ${why} can reach them all.`
  const about = `${tests.length} of ${all} test files, about ${Math.ceil(expected / 2)} s.${reason}`
  console.log(`Changed since ${base}: ${about}`)
  const [e2e, others] = [tests.filter(isEndToEnd), tests.filter((file) => !isEndToEnd(file))]
  const sampled = { ...env, ...sweepPart() }
  if (others.length > 0)
    await vitest('unit, integration, contract, architecture', ['--project', '!e2e', ...others], sampled)
  if (e2e.length > 0) await vitest('end to end', ['--project', 'e2e', ...e2e], sampled)
  if (tests.length === 0) total.passed = 1
}

function isEndToEnd(file) {
  return file.startsWith('test/e2e/')
}

/** Where this branch left its upstream; the last commit where it has none. */
function upstream() {
  const base = spawnSync('git', ['merge-base', 'HEAD', '@{upstream}'], { cwd: root, encoding: 'utf8' })
  return base.status === 0 ? base.stdout.trim() : 'HEAD'
}

/** Notes which functions each test calls, and brings the map up to date. The build for that has the names of the sources. */
async function withMap(run) {
  const dist = join(root, 'dist')
  const folder = join(results, 'reach')
  mkdirSync(folder)
  rmSync(dist, { recursive: true, force: true })
  await run({ COPSE_REACH: folder })
  const { writeMap } = await import('./reach/map-file.mjs')
  writeMap(folder, timesOf('unit.json', 'end.json', 'tests.json'))
  rmSync(folder, { recursive: true })
  rmSync(dist, { recursive: true, force: true })
}

/** Seconds of each test file. */
function timesOf(...reports) {
  const files = reports.flatMap((name) => read(join(results, name))?.testResults ?? [])
  return Object.fromEntries(
    files.map(({ name, startTime, endTime }) => [relative(root, name), (endTime - startTime) / 1000]),
  )
}

/**
 * What needs no test runner; each counts as one test. One after the other and behind everything else: they take what
 * the tests leave of two cores while they wait for a process or a disk.
 */
async function checks({ NODE_OPTIONS = '', ...rest }) {
  // Who types the whole program makes much that is soon garbage: with room for it a quarter of the time is saved.
  const env = { ...rest, NODE_OPTIONS: `${NODE_OPTIONS} --max-semi-space-size=64` }
  await check('lint', env, 'node', 'scripts/check-lint.mjs')
  await check('types', env, 'node', 'scripts/check-types.mjs')
  await check('format', env, 'oxfmt', '--check', '.')
}

async function check(name, env, command, ...args) {
  const since = performance.now()
  const options = { cwd: root, env, shell: process.platform === 'win32', priority: constants.priority.PRIORITY_LOW }
  const { code, output } = await capture(command, args, options)
  total[code === 0 ? 'passed' : 'failed'] += 1
  if (code !== 0) {
    console.log(output.trim())
    failures.push(name)
  }
  console.log(`${code === 0 ? '✓' : '✗'} ${name} (${seconds(since)})`)
}

async function stage(name, work) {
  const since = performance.now()
  await work()
  console.log(`✓ ${name} (${seconds(since)})`)
}

async function vitest(name, args, env) {
  const since = performance.now()
  // On a machine that others load, a test may run out of time once; second-tries.mjs names it.
  const again = process.env.CI ? ['--retry=1'] : []
  const file = join(results, `${name.split(/\W/)[0]}.json`)
  const outside = join(results, `${name.split(/\W/)[0]}-outside-tests.json`)
  const leftOver = join(results, `${name.split(/\W/)[0]}-left-out.json`)
  const reporters = [
    '--reporter=default',
    '--reporter=./scripts/time-limit.mjs',
    '--reporter=./scripts/second-tries.mjs',
    '--reporter=./scripts/outside-tests.mjs',
    '--reporter=json',
    `--outputFile.json=${file}`,
  ]
  const code = await runAs('vitest', ['run', ...args, ...again, ...reporters], {
    cwd: root,
    env: { ...env, COPSE_OUTSIDE_TESTS: outside, COPSE_TESTS_LEFT_OUT: leftOver },
    shell: process.platform === 'win32',
  })
  const left = read(leftOver) ?? []
  untested.push(...left)
  const counted = count(file, left)
  const thrown = read(outside) ?? []
  counted.failed += thrown.length
  // A run that breaks before or after its tests has failed, whatever they say; one that only leaves files out says so too.
  const isOnlyCut = left.length > 0 && counted.failures.length === 0
  if (code !== 0 && counted.failed === 0 && !isOnlyCut) {
    counted.failed = 1
    failures.push(`${name}: no test failed, but the run ended with ${code}`)
  }
  failures.push(...counted.failures, ...thrown)
  for (const key of Object.keys(total)) total[key] += counted[key]
  console.log(`${code === 0 ? '✓' : '✗'} ${name} (${seconds(since)})`)
}

/** What a reporter has left, or null where it has left nothing. */
function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if (error.code === 'ENOENT') return null
    throw error
  }
}

/** What a report counts, but for the test files that were left out: these it takes for failed. */
function count(file, left) {
  const report = read(file)
  if (report === null) return { passed: 0, failed: 0, skipped: 0, failures: [] }
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    skipped: report.numPendingTests + report.numTodoTests,
    failures: report.testResults.filter(({ name }) => !left.includes(relative(root, name))).flatMap(failuresOf),
  }
}

/** A file that could not be run has a message and no test that failed. */
function failuresOf({ name, status, message, assertionResults }) {
  const file = relative(root, name)
  const failed = assertionResults.filter((one) => one.status === 'failed')
  if (status === 'failed' && failed.length === 0) return [`${file}: ${firstLine(message)}`]
  return failed.map((one) => `${file} > ${one.fullName}: ${firstLine(one.failureMessages[0])}`)
}

function firstLine(text = '') {
  return stripVTControlCharacters(text).split('\n', 1)[0]
}
