import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { Session, type Profiler } from 'node:inspector'
import { basename, join, relative } from 'node:path'
import { randomUUID } from 'node:crypto'
import { afterAll, expect } from 'vitest'
import { projectRoot } from './project-root.ts'

// `npm test -- --map` notes which functions each test file calls, in its worker, in the programs that it starts and in
// its pages. Without it nothing is recorded.

type Script = Pick<Profiler.ScriptCoverage, 'url' | 'functions'>

const folder = process.env['COPSE_REACH']
if (folder !== undefined) await record(folder)

async function record(into: string): Promise<void> {
  const script = new URL('../../scripts/reach/called-functions.mjs', import.meta.url).href
  const { calledFunctions } = (await import(script)) as {
    calledFunctions(scripts: readonly Script[]): ReadonlyMap<string, ReadonlySet<string>>
  }
  const session = startedSession()
  const programs = join(into, `programs-${randomUUID()}`)
  mkdirSync(programs, { recursive: true })
  // What the worker starts inherits it; the worker itself has read it before.
  process.env['NODE_V8_COVERAGE'] = programs
  afterAll(() => {
    const { testPath = '' } = expect.getState()
    const files: Record<string, string[]> = {}
    const add = (scripts: readonly Script[]) => {
      for (const [file, names] of calledFunctions(scripts)) {
        files[file] = [...new Set([...(files[file] ?? []), ...names])]
      }
    }
    session.post('Profiler.takePreciseCoverage', (error, coverage) => {
      if (error) throw error
      add(coverage.result)
    })
    for (const name of readdirSync(programs)) add(scriptsIn(join(programs, name)))
    rmSync(programs, { recursive: true, force: true })
    const test = relative(projectRoot, testPath)
    writeFileSync(join(into, `${basename(testPath)}-${randomUUID()}.json`), JSON.stringify({ test, files }))
  })
}

/** A program that was killed while it wrote leaves half a file. */
function scriptsIn(path: string): readonly Script[] {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { result: Script[] }).result
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

/** One session for all files of a worker. */
function startedSession(): Session {
  const key = Symbol.for('copse.reach')
  const holder = globalThis as { [key]?: Session }
  if (holder[key] !== undefined) return holder[key]
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  return (holder[key] = session)
}
