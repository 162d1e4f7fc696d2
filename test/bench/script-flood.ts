import { createOutputCapture } from '../../src-main/platform/text/output-capture.ts'
import { createRedactor } from '../../src-main/platform/text/redact.ts'
import type { ScriptRun } from '../../src-main/ports/scripts.ts'
import { createScripts } from '../../src-main/hooks/scripts/run-script.ts'
import { serveParent } from './child.ts'
import { peakMemory } from './process-usage.ts'

/** Runs a hook's script in a process of its own, and says how much memory that took. */
export interface FloodRequest {
  readonly command: string
  readonly cwd: string
}

export interface FloodAnswer {
  readonly exit_code: number
  /** What the process held at its most, less what it held before. */
  readonly growth_mb: number
  readonly stdout: string
  readonly stderr: string
}

const scripts = createScripts()
const redact = createRedactor([], ['correct-horse-battery'])

serveParent<FloodRequest, FloodAnswer>(async ({ command, cwd }) => {
  // All that is loaded and compiled once is there before the measurement, as it is in the service.
  await run({ command: 'echo ready; echo ready >&2', cwd })
  const before = process.memoryUsage.rss()
  const answer = await run({ command, cwd })
  const growth = peakMemory() - before
  return { ...answer, growth_mb: Math.max(1, growth) / 1024 / 1024 }
})

/** As a hook runs: both outputs captured, and looked at while they flow. */
async function run(script: Pick<ScriptRun, 'command' | 'cwd'>): Promise<Omit<FloodAnswer, 'growth_mb'>> {
  const stdout = createOutputCapture({ maxBytes: 10 * 1024, redact })
  const stderr = createOutputCapture({ maxBytes: 10 * 1024, redact })
  const look = () => ({ stdout: stdout.text(), stderr: stderr.text() })
  const seen = { env: {}, timeout_ms: 600_000, stdout, stderr, onOutput: () => void look() }
  const { exit_code } = await scripts.run({ ...script, ...seen }, { signal: new AbortController().signal })
  return { exit_code, ...look() }
}
