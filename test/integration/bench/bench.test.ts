import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { exponentOf } from '../../bench/scale/curves.ts'
import { intervalOf, measure, spreadOf, verdictOf } from '../../bench/measure.ts'
import type { BenchRow } from '../../bench/row.ts'
import { tableOf } from '../../bench/report.ts'
import { ensureBuilt } from '../../helpers/built.ts'
import { projectRoot } from '../../helpers/project-root.ts'

// A process for each row, and services, one after the other.
vi.setConfig({ testTimeout: 180_000 })

const execute = promisify(execFile)
const program = join(projectRoot, 'test', 'bench', 'run.ts')

const names = [
  'transitions-per-second',
  'transitions-with-hooks',
  'engine-work-per-transition',
  'dry-run-200-states',
  'claim-to-agent-start',
  'claim-to-first-file',
  ...[1_000, 10_000, 100_000].map((files) => `worktree-creation-${files}`),
  'diff-2000-files',
  'diff-2000-files-first',
  'chapters-2000-files-first',
  'chapters-2000-files',
  'merge-500-files',
  'landing-reviewed',
  'landing-ten-tasks',
  'import-10000-issues',
  'script-hook-overhead',
  'script-output-1gb',
  'contained-start',
  'contained-start-hosts',
  'agent-output-200mb',
  'eight-agents-loop-delay',
  'fifty-agents-four-slots',
  'overlaps-matrix-20',
  'idle-200-worktrees',
  'idle-200-waiting',
  'overlaps-idle',
  'idle-open-board',
  'events-200-subscribers',
  'requests-with-jwt',
  'requests-with-pat',
  'requests-beside-20-sign-ins',
  'initial-script',
  'first-board-5000',
  'open-task',
  'type-task-key',
  'type-comment-key',
  'frames-scroll-board',
  'frames-drag-card',
  'frames-open-task',
  'frames-type-task',
  'frames-type-comment',
  'frames-read-diff',
  'frames-scroll-diff',
  'frames-scroll-diff-split',
  'frames-scroll-file',
  'frames-scroll-file-split',
  'frames-scroll-chapter',
  'frames-scroll-transcript',
  'shown-scroll-diff',
  'shown-scroll-diff-split',
  'shown-scroll-file',
  'shown-scroll-file-split',
  'memory-200-tasks',
  'data-dir-1000-tasks',
  'packed-app-size',
]

/** A few, so that the suite stays quick; COPSE_ALL_BENCH=1 runs all. */
const few = ['transitions-per-second', 'diff-2000-files', 'requests-with-jwt']
const tried = process.env['COPSE_ALL_BENCH'] === '1' ? names : few

const side = { median: expect.any(Number), min: expect.any(Number), max: expect.any(Number) }
const measured = {
  unit: expect.any(String),
  rounds: expect.any(Number),
  goal: expect.any(Number),
  product: side.median,
  floor: side.median,
  ratio: side.median,
  interval: { low: side.median, high: side.median },
  verdict: expect.stringMatching(/^(met|missed|unclear)$/),
  spread: { product: side, floor: side },
}

test('measures product and floor of rows in a quick run, and prints JSON and a table', async () => {
  await ensureBuilt()
  const only = tried.flatMap((name) => ['--only', name])
  const { stdout, stderr } = await execute(process.execPath, [program, '--quick', '--json', '-', ...only])
  const report = JSON.parse(stdout) as { rows: { name: string; product: number; floor: number }[] }
  expect(report).toMatchObject({
    scale: 'quick',
    build: 'dist',
    rows: tried.map((name) => ({ name, ...measured })),
  })
  // There may be no late frames.
  const counted = report.rows.filter(({ name }) => !name.startsWith('frames-'))
  for (const row of counted) expect(Math.min(row.product, row.floor)).toBeGreaterThan(0)
  expect(stderr).toMatch(/row +\| unit +\| product +\| floor +\| ratio +\| goal/)
  // CI's output shows the table.
  console.log(stderr.slice(stderr.indexOf('| row')))
})

test('reports an unknown row or option and ends with 2', async () => {
  for (const args of [['--only', 'nothing'], ['--fast']]) {
    await expect(execute(process.execPath, [program, ...args])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`rows: ${names.join(', ')}\n`) as string,
    })
  }
})

test('reports a broken row with its reason below the measured ones', () => {
  const one = { median: 1, min: 1, max: 1 }
  const good = {
    name: 'good',
    unit: 'ms',
    better: 'lower',
    rounds: 1,
    product: 1,
    floor: 1,
    ratio: 1,
    interval: { low: 1, high: 1 },
    goal: 2,
    verdict: 'met',
  } as const
  const spread = { product: one, floor: one }
  const broken = { name: 'bad', error: 'It lost an event.' } as const
  expect(tableOf([broken, { ...good, spread }]).split('\n')).toEqual([
    expect.stringMatching(/^\| row +\| unit/),
    expect.stringMatching(/^\| -+ \|/),
    expect.stringMatching(/^\| good +\| ms .* met /),
    'bad BROKE: It lost an event.',
  ])
})

test('takes the middle of the sorted values as median', () => {
  expect(spreadOf([10, 9, 1])).toEqual({ median: 9, min: 1, max: 10 })
  expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 })
  expect(() => spreadOf([])).toThrow('No round was measured.')
})

test('calls a row missed only when its whole interval is beyond the goal', () => {
  const nine = [1, 2, 3, 4, 5, 6, 7, 8, 9]
  // With nine rounds the median is between the second and the second last with 96 % certainty.
  expect(intervalOf(nine)).toEqual({ low: 2, high: 8 })
  expect(intervalOf(nine.slice(0, 5))).toEqual({ low: 1, high: 5 })
  const lower = (goal: number) => verdictOf({ better: 'lower', goal }, intervalOf(nine))
  expect([lower(8), lower(7), lower(2), lower(1.9)]).toEqual(['met', 'unclear', 'unclear', 'missed'])
  const higher = (goal: number) => verdictOf({ better: 'higher', goal }, intervalOf(nine))
  expect([higher(2), higher(2.1), higher(8), higher(8.1)]).toEqual(['met', 'unclear', 'unclear', 'missed'])
})

test('finds the exponent of a curve between its two largest sizes', () => {
  const curve = (...ms: number[]) => ({
    what: 'work',
    points: ms.map((one, at) => ({ size: 10 ** at, ms: one, blocked_ms: 0 })),
  })
  expect(exponentOf(curve(1, 10, 100))).toBeCloseTo(1)
  expect(exponentOf(curve(1, 100, 10_000))).toBeCloseTo(2)
  expect(exponentOf(curve(5, 5, 5.5))).toBeNull()
})

/** How many rounds a row has whose product takes so long in each, of 10 at most, beside a floor of 1. */
async function roundsOf(took: readonly number[]): Promise<number> {
  let round = 0
  const row: BenchRow = {
    name: 'row',
    unit: 'ms',
    better: 'lower',
    goal: 2,
    rounds: { full: { warmUp: 0, measured: 10 }, quick: { warmUp: 0, measured: 1 } },
    prepare: () =>
      Promise.resolve({
        product: () => Promise.resolve(took[round++ % took.length] ?? 0),
        floor: () => Promise.resolve(1),
        verify: () => Promise.resolve(),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
  }
  return (await measure(row, { scale: 'full', build: 'sources', say: () => undefined })).rounds
}

test('ends a row after three rounds without doubt, and after five if only their interval is on one side', async () => {
  expect(await roundsOf([1.1, 1.2, 1.3])).toBe(3)
  expect(await roundsOf([3, 3.1, 2.9])).toBe(3)
  expect(await roundsOf([1, 1.5, 1.9])).toBe(5)
  expect(await roundsOf([1, 2.5, 3])).toBe(10)
})
