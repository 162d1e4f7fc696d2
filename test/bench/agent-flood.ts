import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { v7 } from 'uuid'
import { createRedactor } from '../../src-main/platform/text/redact.ts'
import type { AgentRun } from '../../src-main/agents/definition.ts'
import { configNames } from '../../src-main/agents/create-executors.ts'
import { createClaudeCodeDriver } from '../../src-main/agents/claude-code/definition.ts'
import { createLogs } from '../../src-main/logs/create-logs.ts'
import { ExecutionId, ProjectId, TaskId } from '../../src-shared/contract/ids.ts'
import { serveParent } from './child.ts'
import { peakMemory } from './process-usage.ts'

/** Runs an agent that prints, in a process of its own, and says how long that took and how much memory. */
export interface AgentFloodRequest {
  /** A command line for the shell; each run is given how many bytes to print as its last word. */
  readonly command: string
  readonly bytes: number
  /** For the worktree and the logs. */
  readonly within: string
}

export interface AgentFloodAnswer {
  readonly took_ms: number
  /** What the process held at its most, less what it held before. */
  readonly growth_mb: number
  readonly entries: number
  readonly raw_bytes: number
}

const redact = createRedactor(['internal-[0-9]+'], ['correct-horse-battery'])
const driver = createClaudeCodeDriver()

serveParent<AgentFloodRequest, AgentFloodAnswer>(async (request) => {
  // All that is loaded and compiled once is there before the measurement, as it is in the service.
  await run({ ...request, bytes: 1_000_000 })
  const before = process.memoryUsage.rss()
  const since = performance.now()
  const ran = await run(request)
  const took_ms = performance.now() - since
  const growth = peakMemory() - before
  return { ...ran, took_ms, growth_mb: Math.max(1, growth) / 1024 / 1024 }
})

async function run({
  command,
  bytes,
  within,
}: AgentFloodRequest): Promise<Omit<AgentFloodAnswer, 'took_ms' | 'growth_mb'>> {
  const folder = await mkdtemp(join(within, 'copse-bench-flood-'))
  try {
    const program = join(folder, 'claude')
    await writeFile(program, `#!/bin/sh\nexec ${command} ${bytes}\n`, { mode: 0o755 })
    const task_id = TaskId.parse(v7())
    const execution_id = ExecutionId.parse(v7())
    let entries = 0
    const log = await createLogs({ dir: join(folder, 'logs') }).openAgent({
      project_id: ProjectId.parse(v7()),
      task_id,
      execution_id,
      redact,
      onEntry: () => (entries += 1),
    })
    const about: AgentRun = {
      execution_id,
      task_id,
      cwd: folder,
      prompt: 'Print.',
      config: { command: program },
      env: {},
      log,
      mcp: null,
      session_id: null,
      timeout_seconds: null,
      protectedNames: configNames,
    }
    const { outcome } = await driver.start(about, { signal: new AbortController().signal })
    const { exit_code, message } = await outcome
    if (exit_code !== 0) throw new Error(`The agent ended with ${exit_code}: ${message}`)
    const { size } = await stat(join(folder, 'logs', task_id, `agent-${execution_id}.raw.log`))
    return { entries, raw_bytes: size }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
