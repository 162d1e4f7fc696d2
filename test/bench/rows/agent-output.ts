import { execFile } from 'node:child_process'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { AgentFloodAnswer, AgentFloodRequest } from '../agent-flood.ts'
import { startHelper } from '../child.ts'
import { memoryFolder } from '../memory-folder.ts'
import type { BenchRow } from '../row.ts'

const execute = promisify(execFile)
const sizes = { full: 200_000_000, quick: 1_000_000 } as const
/** How much more memory the service may need for it, in MB: for 800 MB of output it was not more than for 200. */
const maxGrowth = 160
const agent = `'${process.execPath}' '${new URL('../agents/flood.ts', import.meta.url).pathname}'`

/** The raw log keeps so much of a longer output: its beginning and its end. */
const rawBytes = 68_000_000

/**
 * 200 MB that an agent prints (agents/flood.ts), from its start until it is gone and both logs are on disk: read as
 * Claude Code's stream, made a transcript, redacted, and beside it the raw output, of which beginning and end are kept.
 * The floor is the same agent with its output piped through `cat` to a file. Both write into memory. A round fails when
 * the process grows by more than 160 MB meanwhile, or when less is kept than should be.
 */
export const agentOutput: BenchRow = {
  name: 'agent-output-200mb',
  unit: 'MB/s',
  better: 'higher',
  goal: 0.5,
  rounds: { full: { warmUp: 1, measured: 3 }, quick: { warmUp: 0, measured: 1 } },
  prepare: async ({ scale, say }) => {
    const bytes = sizes[scale]
    const folder = await mkdtemp(join(await memoryFolder(), 'copse-bench-output-'))
    let entries = 0
    return {
      product: async () => {
        await using flood = startHelper<AgentFloodRequest, AgentFloodAnswer>(
          new URL('../agent-flood.ts', import.meta.url),
        )
        const { took_ms, growth_mb, ...kept } = await flood.ask({ command: agent, bytes, within: folder })
        say(`  ${growth_mb.toFixed(0)} MB more memory for ${kept.entries} entries`)
        entries ||= kept.entries
        if (kept.raw_bytes < Math.min(bytes, rawBytes)) throw new Error(`The log has only ${kept.raw_bytes} bytes.`)
        if (kept.entries !== entries) throw new Error(`The transcript had ${entries} entries, and now ${kept.entries}.`)
        if (growth_mb > maxGrowth) throw new Error(`The process grew by ${growth_mb} MB.`)
        return bytes / 1_000 / took_ms
      },
      floor: async () => {
        const file = join(folder, 'floor.log')
        const since = performance.now()
        await execute('/bin/sh', ['-c', `${agent} ${bytes} | cat > '${file}'`])
        const took_ms = performance.now() - since
        const { size } = await stat(file)
        await rm(file)
        if (size < bytes) throw new Error(`The file has ${size} of ${bytes} bytes.`)
        return bytes / 1_000 / took_ms
      },
      verify: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
    }
  },
}
