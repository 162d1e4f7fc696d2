import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { startHelper } from './child.ts'
import { addToHistory, currentCommit, lastRatios, type BenchReport } from './history.ts'
import type { BrokenRow, RowResult } from './measure.ts'
import type { MeasureRequest } from './measure-row.ts'
import { isBuilt } from './product.ts'
import { tableOf } from './report.ts'
import type { BenchRow, Build, Scale } from './row.ts'
import { rows } from './rows.ts'

const usage = `usage: npm run bench -- [--only NAME]… [--quick] [--sources] [--json FILE | --json -]
rows: ${rows.map((row) => row.name).join(', ')}`

// Ends with 1 when a goal was missed or a row broke. A quick run is no measurement: it misses none and is not kept.
process.exitCode = await main()

async function main(): Promise<number> {
  const options = readOptions()
  if (options === null) {
    console.error(usage)
    return 2
  }
  const { quick, json, only } = options
  const build: Build = !options.sources && isBuilt() ? 'dist' : 'sources'
  const scale: Scale = quick ? 'quick' : 'full'
  const results: (RowResult | BrokenRow)[] = []
  const before = lastRatios()
  const seconds = new Map<string, number>()
  const measureRow = async ({ name }: BenchRow): Promise<RowResult | BrokenRow> => {
    const began = performance.now()
    console.error(`${name} (${scale}, product from ${build}, after ${(began / 60_000).toFixed(1)} min)`)
    try {
      return await measureApart({ name, scale, build })
    } catch (error) {
      // What the others have measured in a quarter of an hour is not lost with it.
      console.error(error)
      const [message = ''] = error instanceof Error ? error.message.split('\n') : [String(error)]
      return { name, error: message.replace(/^Error: /, '') }
    } finally {
      seconds.set(name, (performance.now() - began) / 1_000)
    }
  }
  const chosen = rows.filter(({ name }) => only.length === 0 || only.includes(name))
  for (const together of inTurn(chosen)) results.push(...(await Promise.all(together.map(measureRow))))
  const report: BenchReport = {
    at: new Date().toISOString(),
    commit: currentCommit(),
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    cpus: cpus().map((cpu) => cpu.model),
    scale,
    build,
    rows: results,
  }
  if (!quick) addToHistory(report)
  const text = `${JSON.stringify(report, null, 2)}\n`
  if (json === '-') process.stdout.write(text)
  else if (json !== undefined) writeFileSync(json, text)
  // With JSON on stdout the table is for the person beside it.
  const notesOf = (name: string) => ({ seconds: seconds.get(name) ?? 0, before: before.get(name) ?? null })
  const took = `${results.length} rows in ${(performance.now() / 60_000).toFixed(1)} min`
  process[json === '-' ? 'stderr' : 'stdout'].write(`${tableOf(results, notesOf)}\n${took}\n`)
  const isGood = (row: RowResult | BrokenRow) => !('error' in row) && (quick || row.verdict !== 'missed')
  return results.every(isGood) ? 0 : 1
}

/** Each row alone, but idle ones that follow each other at the same time. */
function inTurn(chosen: readonly BenchRow[]): readonly (readonly BenchRow[])[] {
  const turns: BenchRow[][] = []
  for (const row of chosen) {
    const last = turns.at(-1)
    if (row.idle && last?.at(-1)?.idle) last.push(row)
    else turns.push([row])
  }
  return turns
}

/** In a process of its own: starting a program takes the longer, the more memory the rows before have left. */
async function measureApart(request: MeasureRequest): Promise<RowResult> {
  await using helper = startHelper<MeasureRequest, RowResult>(new URL('./measure-row.ts', import.meta.url))
  return await helper.ask(request)
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
