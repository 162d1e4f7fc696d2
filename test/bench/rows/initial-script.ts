import { initialScript } from '../initial-script.ts'
import type { BenchRow } from '../row.ts'

/**
 * The script that the page asks for before it shows anything: its entry and what that imports, each compressed.
 * Counted, not timed. The floor is one KB, so the goal is in KB.
 */
export const initialScriptRow: BenchRow = {
  name: 'initial-script',
  unit: 'KB',
  better: 'lower',
  goal: 300,
  rounds: { full: { warmUp: 0, measured: 1 }, quick: { warmUp: 0, measured: 1 } },
  prepare: ({ say }) =>
    Promise.resolve({
      product: async () => {
        const { files, compressed } = await initialScript()
        for (const file of files) say(`  ${file}`)
        return compressed / 1_000
      },
      floor: () => Promise.resolve(1),
      verify: () => Promise.resolve(),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }),
}
