import type { Command } from 'commander'
import { addCommand } from '../command-context.ts'

export interface RotateKeyOptions {
  readonly dataDir?: string
  readonly json: boolean
}

/** Adds `svc rotate-key`: for a stopped service whose key may have leaked. */
export function addRotateKey(program: Command, run: (options: RotateKeyOptions) => Promise<number>): void {
  addCommand(program, {
    usage: 'rotate-key',
    summary: 'create a new signing key (stop the service first); invalidates every access token',
    examples: ['svc rotate-key', 'svc rotate-key --data-dir ~/copse-data --json'],
  })
    .option('--data-dir <folder>', 'where everything is kept (SVC_DATA_DIR)')
    .option('--json', 'print one JSON line once it is done', false)
    .action(async (options: RotateKeyOptions) => {
      process.exitCode = await run(options)
    })
}
