import { Command, CommanderError } from 'commander'
import { addAccount } from './commands/account.ts'
import { addAgent } from './commands/agent.ts'
import { addBackup, type BackupArguments, type RestoreArguments } from './commands/backup.ts'
import { addCall } from './commands/call.ts'
import { addCompletion } from './commands/completion.ts'
import { addDemo, type DemoArguments } from './commands/demo.ts'
import { addEvents } from './commands/events.ts'
import { addSignIn } from './commands/login.ts'
import { addInbox } from './commands/inbox.ts'
import { addMcp } from './commands/mcp.ts'
import { addOpen } from './commands/open.ts'
import { addProject } from './commands/project.ts'
import { addQueue } from './commands/queue.ts'
import { addRotateKey, type RotateKeyOptions } from './commands/rotate-key.ts'
import { addRunner, type ConnectArguments } from './commands/runner.ts'
import { addServe, type ServeOptions } from './commands/serve.ts'
import { addReview } from './commands/task-moves.ts'
import { addTask } from './commands/task.ts'
import { addLanding } from './commands/landing.ts'
import { addPullRequest } from './commands/pull-request.ts'
import { addOverlaps } from './commands/overlaps.ts'
import { addTemplate } from './commands/template.ts'
import { addPrices } from './commands/prices.ts'
import { addUsage } from './commands/usage.ts'
import { endWithReader, outputWritten } from './output.ts'

/** Parts that can't work as clients of the API. */
export interface Program {
  readonly version: string
  serve(options: ServeOptions): Promise<number>
  demo(options: DemoArguments): Promise<number>
  rotateKey(options: RotateKeyOptions): Promise<number>
  backUp(options: BackupArguments): Promise<number>
  restore(options: RestoreArguments): Promise<number>
  connectRunner(options: ConnectArguments): Promise<number>
}

/** Runs one command line; resolves to the exit code: 0, 1 (refused) or 2 (usage). */
export async function runCli(args: readonly string[], program: Program): Promise<number> {
  endWithReader()
  try {
    await createProgram(program).parseAsync(args, { from: 'user' })
  } catch (error) {
    // Commander has printed its message already; help and version are not errors.
    if (error instanceof CommanderError) {
      await outputWritten()
      return error.exitCode === 0 ? 0 : 2
    }
    throw error
  }
  return Number(process.exitCode ?? 0)
}

export function createProgram(program: Program): Command {
  const svc = new Command('svc')
    .description('Copse: one developer, many coding agents')
    .version(program.version)
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'show the help of a command')
    .showHelpAfterError('(svc --help shows what there is)')
    // `svc runner` has options of its own, which its commands have too.
    .enablePositionalOptions()
    .exitOverride()
  addServe(svc, program.serve)
  addDemo(svc, program.demo)
  addRotateKey(svc, program.rotateKey)
  addBackup(svc, program)
  addSignIn(svc)
  addAccount(svc)
  addProject(svc)
  addAgent(svc)
  addRunner(svc, program.connectRunner)
  addTask(svc)
  addLanding(svc)
  addPullRequest(svc)
  addOverlaps(svc)
  addTemplate(svc)
  addInbox(svc)
  addQueue(svc)
  addUsage(svc)
  addPrices(svc)
  addReview(svc)
  addEvents(svc)
  addOpen(svc)
  addCall(svc)
  addMcp(svc)
  addCompletion(svc)
  return svc
}
