import type { Command } from 'commander'

export interface DemoArguments {
  readonly json: boolean
  readonly keep: boolean
}

/** `svc demo`: one task from claim to merge, with nothing but git. */
export function addDemo(program: Command, run: (options: DemoArguments) => Promise<number>): void {
  program
    .command('demo')
    .description('walk one task from claim to merge in a repository made for it, with a scripted agent')
    .option('--json', 'print one JSON line a step', false)
    .option('--keep', 'keep the repository and the data folder to look at', false)
    .action(async (options: DemoArguments) => {
      process.exitCode = await run(options)
    })
}
