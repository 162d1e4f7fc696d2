import { mkdir, readFile, rm } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt } from './build.mjs'
import { ensureNode } from './node.mjs'
import { ensureDependencies } from './setup.mjs'
import { runAs, withPath } from './support/child.mjs'
import { failWith, root } from './support/project.mjs'

// npm run test:kills -- [--kills 210] [--seed 1] [--on ssh,daemon,container] [--more]: kills services, runners, links,
// engines and agents at random moments, in rounds of ten on each kind of runner in turn, and prints what was lost, with
// `--more` in the calls before too. Runs beside other work.
const perRound = 10
const niceness = 10
/** By the kind of runner, the test that kills there. */
const tests = {
  ssh: ['kills.test.ts', 'on another machine'],
  daemon: ['kills.test.ts', 'connects itself'],
  container: ['container-kills.test.ts', 'in containers'],
}

try {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '210' },
      seed: { type: 'string', default: '1' },
      on: { type: 'string', default: Object.keys(tests).join(',') },
      more: { type: 'boolean', default: false },
    },
  })
  const kinds = values.on.split(',')
  const bin = await ensureNode()
  await ensureDependencies(bin)
  await ensureBuilt(bin)
  setPriority(niceness)
  const file = join(root, 'test-results', 'kills.jsonl')
  await mkdir(dirname(file), { recursive: true })
  if (!values.more) await rm(file, { force: true })
  const failed = []
  for (let round = 0; round * perRound < Number(values.kills); round += 1) {
    const kind = kinds[round % kinds.length]
    const seed = Number(values.seed) + 2 * round
    if (!(await passes(kind, seed, { bin, file }))) failed.push(`${kind} with seed ${seed}`)
  }
  const rounds = (await readFile(file, 'utf8')).trim().split('\n').map(JSON.parse)
  console.log(tableOf(rounds))
  for (const one of failed) console.log(`Failed: ${one}`)
  process.exit(failed.length === 0 ? 0 : 1)
} catch (error) {
  failWith(error)
}

async function passes(kind, seed, { bin, file }) {
  if (!(kind in tests)) throw new Error(`There is no kind ${kind}; there are ${Object.keys(tests).join(', ')}.`)
  const [path, name] = tests[kind]
  const env = {
    ...withPath([bin, join(root, 'node_modules', '.bin')]),
    COPSE_RUNNER_KILLS: String(perRound),
    COPSE_RUNNER_KILL_SEED: String(seed),
    COPSE_RUNNER_KILL_ROUNDS: file,
  }
  const args = [
    'run',
    '--project',
    'main',
    '--maxWorkers',
    '1',
    join('test', 'integration', 'runners', path),
    '-t',
    name,
  ]
  return (await runAs('vitest', args, { cwd: root, env, shell: process.platform === 'win32' })) === 0
}

function tableOf(rounds) {
  const rows = new Map()
  const count = (runner, what, column) => {
    const key = `${runner} ${what}`
    if (!rows.has(key)) rows.set(key, { runner, killed: what, kills: 0, 'runs ended': 0, 'commits lost': 0 })
    rows.get(key)[column] += 1
  }
  for (const { runner, kills, ended, missing } of rounds) {
    for (const kind of kills) count(runner, kind, 'kills')
    for (const { kind } of ended) count(runner, kind, 'runs ended')
    for (const kind of missing) count(runner, kind, 'commits lost')
  }
  const sorted = [...rows.values()].sort((a, b) => (a.runner + a.killed < b.runner + b.killed ? -1 : 1))
  const sum = (column) => sorted.reduce((total, row) => total + row[column], 0)
  const columns = ['runner', 'killed', 'kills', 'runs ended', 'commits lost']
  const total = ['all', '', ...columns.slice(2).map(sum)]
  const lines = [columns, columns.map(() => '---'), ...sorted.map((row) => columns.map((column) => row[column])), total]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
