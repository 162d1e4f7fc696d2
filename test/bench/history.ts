import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { projectRoot } from '../helpers/project-root.ts'
import type { BrokenRow, RowResult } from './measure.ts'

/** One run of the bench: a line of the history. Figures of another machine say nothing, so it is not committed. */
export interface BenchReport {
  readonly at: string
  readonly commit: string | null
  readonly node: string
  readonly platform: string
  readonly cpus: readonly string[]
  readonly scale: string
  readonly build: string
  readonly rows: readonly (RowResult | BrokenRow)[]
}

const file = join(projectRoot, '.bench', 'history.jsonl')

/** Returns the ratio that each row had when it was last measured in full. */
export function lastRatios(): ReadonlyMap<string, number> {
  const ratios = new Map<string, number>()
  for (const { rows } of readHistory()) {
    for (const row of rows) if (!('error' in row)) ratios.set(row.name, row.ratio)
  }
  return ratios
}

function readHistory(): readonly BenchReport[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return []
  }
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as BenchReport)
}

export function addToHistory(report: BenchReport): void {
  mkdirSync(dirname(file), { recursive: true })
  appendFileSync(file, `${JSON.stringify(report)}\n`)
}

/** The commit that is checked out; null outside of a repository. */
export function currentCommit(): string | null {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: projectRoot, encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}
