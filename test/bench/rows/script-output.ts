import { tmpdir } from 'node:os'
import { startHelper } from '../child.ts'
import type { BenchRow } from '../row.ts'
import type { FloodAnswer, FloodRequest } from '../script-flood.ts'

const sizes = { full: 1_000_000_000, quick: 1_000_000 } as const
const line = 'a line of output that a hook says'

/**
 * How much the process grows, at its most, while a hook's script prints 1 GB and somebody watches it live. Each round
 * is a process that has not done so before. The floor is one MB, so the goal is in MB.
 */
export const scriptOutput: BenchRow = {
  name: 'script-output-1gb',
  unit: 'MB more',
  better: 'lower',
  goal: 32,
  rounds: { full: { warmUp: 0, measured: 2 }, quick: { warmUp: 0, measured: 1 } },
  prepare: ({ scale }) => {
    const bytes = sizes[scale]
    return Promise.resolve({
      product: async () => {
        await using flood = startHelper<FloodRequest, FloodAnswer>(new URL('../script-flood.ts', import.meta.url))
        const command = `yes '${line}' | head -c ${bytes}; echo; echo the end; echo wrong >&2`
        const { exit_code, growth_mb, stdout, stderr } = await flood.ask({ command, cwd: tmpdir() })
        const leftOut = Number(/^\[([\d,]+) bytes/.exec(stdout)?.[1]?.replaceAll(',', ''))
        const shown = Buffer.byteLength(stdout) - stdout.indexOf('\n') - 1
        const all = bytes + '\nthe end\n'.length
        if (exit_code !== 0 || stderr !== 'wrong\n' || !stdout.endsWith(`\nthe end\n`) || leftOut + shown !== all) {
          throw new Error(`Of ${all} bytes the capture shows ${shown} and left ${leftOut} out: ${stdout.slice(-200)}`)
        }
        return growth_mb
      },
      floor: () => Promise.resolve(1),
      verify: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    })
  },
}
