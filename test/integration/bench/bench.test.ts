import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { spreadOf } from '../../bench/measure.ts'
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
  'merge-500-files',
  'import-10000-issues',
  'script-hook-overhead',
  'script-output-1gb',
  'agent-output-200mb',
  'eight-agents-loop-delay',
  'fifty-agents-four-slots',
  'idle-200-worktrees',
  'events-200-subscribers',
  'requests-with-jwt',
  'requests-with-pat',
  'requests-beside-20-sign-ins',
]

const side = { median: expect.any(Number), min: expect.any(Number), max: expect.any(Number) }
const measured = { product: side.median, floor: side.median, ratio: side.median, passed: expect.any(Boolean) }

test('a quick run measures product and floor of every row, and says so as JSON and as a table', async () => {
  const { stdout, stderr } = await execute(process.execPath, [program, '--quick', '--sources', '--json', '-'])
  const report = JSON.parse(stdout) as { rows: { product: number; floor: number }[] }
  const spread = { product: side, floor: side, ratio: side }
  expect(report).toMatchObject({
    scale: 'quick',
    build: 'sources',
    rows: [
      { name: 'transitions-per-second', unit: 'transitions/s', rounds: 2, goal: 0.5, ...measured, spread },
      { name: 'transitions-with-hooks', unit: 'transitions/s', rounds: 2, goal: 0.01, ...measured, spread },
      { name: 'engine-work-per-transition', unit: 'µs', rounds: 2, goal: 1.2, ...measured, spread },
      { name: 'dry-run-200-states', unit: 'ms', rounds: 2, goal: 100, ...measured, spread },
      { name: 'claim-to-agent-start', unit: 'ms', rounds: 1, goal: 1.25, ...measured, spread },
      { name: 'claim-to-first-file', unit: 'ms', rounds: 1, goal: 1.3, ...measured, spread },
      { name: 'worktree-creation-1000', unit: 'ms', rounds: 1, goal: 3, ...measured, spread },
      { name: 'worktree-creation-10000', unit: 'ms', rounds: 1, goal: 1.5, ...measured, spread },
      { name: 'worktree-creation-100000', unit: 'ms', rounds: 1, goal: 1, ...measured, spread },
      { name: 'diff-2000-files', unit: 'ms', rounds: 1, goal: 1.3, ...measured, spread },
      { name: 'merge-500-files', unit: 'ms', rounds: 1, goal: 1.5, ...measured, spread },
      { name: 'import-10000-issues', unit: 'issues/s', rounds: 1, goal: 0.5, ...measured, spread },
      { name: 'script-hook-overhead', unit: 'ms', rounds: 1, goal: 1.5, ...measured, spread },
      { name: 'script-output-1gb', unit: 'MB more', rounds: 1, goal: 32, ...measured, spread },
      { name: 'agent-output-200mb', unit: 'MB/s', rounds: 1, goal: 0.5, ...measured, spread },
      { name: 'eight-agents-loop-delay', unit: 'ms', rounds: 1, goal: 20, ...measured, spread },
      { name: 'fifty-agents-four-slots', unit: 's', rounds: 1, goal: 6, ...measured, spread },
      { name: 'idle-200-worktrees', unit: '% of a core', rounds: 1, goal: 1, ...measured, spread },
      { name: 'events-200-subscribers', unit: 'ms', rounds: 1, goal: 50, ...measured, spread },
      { name: 'requests-with-jwt', unit: 'requests/s', rounds: 2, goal: 0.6, ...measured, spread },
      { name: 'requests-with-pat', unit: 'requests/s', rounds: 2, goal: 0.6, ...measured, spread },
      { name: 'requests-beside-20-sign-ins', unit: 'ms', rounds: 2, goal: 50, ...measured, spread },
    ],
  })
  for (const row of report.rows) expect(Math.min(row.product, row.floor)).toBeGreaterThan(0)
  expect(stderr).toMatch(/row +unit +product +floor +ratio +goal/)
})

test('a row that is not there, or an unknown option, is told and ends with 2', async () => {
  for (const args of [['--only', 'nothing'], ['--fast']]) {
    await expect(execute(process.execPath, [program, ...args])).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`rows: ${names.join(', ')}\n`) as string,
    })
  }
})

test('a median is the middle of the sorted values', () => {
  expect(spreadOf([10, 9, 1])).toEqual({ median: 9, min: 1, max: 10 })
  expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 })
  expect(() => spreadOf([])).toThrow('No round was measured.')
})
