import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { measure, type RowResult } from './measure.ts'
import { isBuilt } from './product.ts'
import { tableOf } from './report.ts'
import type { BenchRow, Build, Setting } from './row.ts'
import { claimToAgentStart } from './rows/claim-to-agent-start.ts'
import { diffRow } from './rows/diff.ts'
import { dryRunRow } from './rows/dry-run.ts'
import { engineWork } from './rows/engine-work.ts'
import { idleWorktrees } from './rows/idle-worktrees.ts'
import { importIssues } from './rows/import-issues.ts'
import { mergeRow } from './rows/merge.ts'
import { scriptOutput } from './rows/script-output.ts'
import { scriptOverhead } from './rows/script-overhead.ts'
import { transitionsPerSecond } from './rows/transitions-per-second.ts'
import { transitionsWithHooks } from './rows/transitions-with-hooks.ts'
import { worktreeCreationRows } from './rows/worktree-creation.ts'

const rows: readonly BenchRow[] = [
  transitionsPerSecond,
  transitionsWithHooks,
  engineWork,
  dryRunRow,
  claimToAgentStart,
  ...worktreeCreationRows,
  diffRow,
  mergeRow,
  importIssues,
  scriptOverhead,
  scriptOutput,
  idleWorktrees,
]

const usage = `usage: npm run bench -- [--only NAME]… [--quick] [--sources] [--json FILE | --json -]
rows: ${rows.map((row) => row.name).join(', ')}`

// Ends with 1 when a goal was missed; a quick run is no measurement and misses none.
process.exitCode = await main()

async function main(): Promise<number> {
  const options = readOptions()
  if (options === null) {
    console.error(usage)
    return 2
  }
  const { quick, json, only } = options
  const build: Build = !options.sources && isBuilt() ? 'dist' : 'sources'
  const setting: Setting = { scale: quick ? 'quick' : 'full', build, say: (line) => console.error(line) }
  const results: RowResult[] = []
  for (const row of rows.filter(({ name }) => only.length === 0 || only.includes(name))) {
    setting.say(`${row.name} (${setting.scale}, product from ${build})`)
    results.push(await measure(row, setting))
  }
  const report = {
    at: new Date().toISOString(),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpus: cpus().map((cpu) => cpu.model),
    ...{ scale: setting.scale, build },
    rows: results,
  }
  const text = `${JSON.stringify(report, null, 2)}\n`
  if (json === '-') process.stdout.write(text)
  else if (json !== undefined) writeFileSync(json, text)
  // With JSON on stdout the table is for the person beside it.
  process[json === '-' ? 'stderr' : 'stdout'].write(`${tableOf(results)}\n`)
  return quick || results.every((row) => row.passed) ? 0 : 1
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string', multiple: true, default: [] },
        quick: { type: 'boolean', default: false },
        sources: { type: 'boolean', default: false },
        json: { type: 'string' },
      },
    })
    return values.only.every((name) => rows.some((row) => row.name === name)) ? values : null
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return null
  }
}
