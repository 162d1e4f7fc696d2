import type { Command } from 'commander'
import { addCommand } from '../command-context.ts'

export interface BackupArguments {
  readonly file: string
  readonly dataDir?: string
  readonly json: boolean
}

export interface RestoreArguments extends BackupArguments {
  readonly replace: boolean
}

/** Adds `svc backup` and `svc restore`, which work on the files of a data folder and need no service. */
export function addBackup(
  program: Command,
  run: {
    readonly backUp: (options: BackupArguments) => Promise<number>
    readonly restore: (options: RestoreArguments) => Promise<number>
  },
): void {
  addCommand(program, {
    usage: 'backup <file>',
    summary: 'write a backup of the data folder, also while the service runs (-: to the output)',
    examples: ['svc backup copse.tar.gz', 'svc backup --data-dir ~/copse-data - | ssh box "cat > copse.tar.gz"'],
  })
    .option('--data-dir <folder>', 'where everything is kept (SVC_DATA_DIR)')
    .option('--json', 'print one JSON line once it is done', false)
    .action(async (file: string, options: Omit<BackupArguments, 'file'>) => {
      process.exitCode = await run.backUp({ ...options, file })
    })
  addCommand(program, {
    usage: 'restore <file>',
    summary: 'put a backup into the data folder (stop the service first; -: from the input)',
    examples: ['svc restore copse.tar.gz', 'svc restore copse.tar.gz --data-dir ~/copse-data --replace'],
  })
    .option('--data-dir <folder>', 'where everything is kept (SVC_DATA_DIR)')
    .option('--replace', 'move data that is there into a folder beside it', false)
    .option('--json', 'print one JSON line once it is done', false)
    .action(async (file: string, options: Omit<RestoreArguments, 'file'>) => {
      process.exitCode = await run.restore({ ...options, file })
    })
}
