import type { Command } from 'commander'
import { addCommand } from '../command-context.ts'

export interface DemoArguments {
  readonly json: boolean
  readonly keep: boolean
}

/** Adds `svc demo`: one task from claim to merge, with nothing but git. */
export function addDemo(program: Command, run: (options: DemoArguments) => Promise<number>): void {
  addCommand(program, {
    usage: 'demo',
    summary: 'walk one task from claim to merge in a repository made for it, with a scripted agent',
    examples: ['svc demo', 'svc demo --keep'],
  })
    .option('--json', 'print one JSON line a step', false)
    .option('--keep', 'keep the repository and the data folder', false)
    .action(async (options: DemoArguments) => {
      process.exitCode = await run(options)
    })
}
