import { InvalidArgumentError, type Command } from 'commander'
import { createClient, type Client } from '../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../src-shared/client/http-transport.ts'
import { defaultDataDir } from '../platform/config/paths.ts'
import { chooseAddress, tokenFromEnvironment } from './address.ts'
import { CliError, failureOf } from './cli-error.ts'
import { createOutput, endWithReader, printFailure, type Output } from './output.ts'
import { openSignIns, type SignIns } from './sign-ins.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Options of every command that talks to the service. */
export interface CommonOptions {
  readonly url?: string
  readonly json?: boolean
}

/** The client, address, output and environment of a command. */
export interface CommandContext {
  readonly url: string
  readonly client: Client
  readonly token: string | null
  readonly out: Output
  readonly env: Environment
  /** Throws `CliError` if the folder is gone. */
  readonly cwd: string
  readonly signIns: SignIns
}

/** Returns the folder of the command line's tokens: the service's data folder. */
function dataDirOf(env: Environment): string {
  return env['SVC_DATA_DIR'] || defaultDataDir(env, process.platform)
}

/** Finds the service's address and the caller's token. */
export function createCommandContext({ url: option, json = false }: CommonOptions): CommandContext {
  const env = process.env
  const signIns = openSignIns(dataDirOf(env))
  const url = chooseAddress(option, env, () => signIns.current())
  const token = tokenFromEnvironment(url, env) ?? signIns.find(url)?.token ?? null
  const client = clientWith(url, token)
  return {
    url,
    client,
    token,
    out: createOutput(json),
    env,
    get cwd() {
      return currentFolder()
    },
    signIns,
  }
}

/** Returns the folder that the command runs in, which may have been deleted since. */
function currentFolder(): string {
  try {
    return process.cwd()
  } catch (error) {
    const message = 'The folder you are in no longer exists. Change to another, then try again.'
    throw new CliError('folder_gone', message, { cause: error })
  }
}

/** Creates a client of the service at `url`. */
export function clientWith(url: string, token: string | null): Client {
  return createClient(createHttpTransport({ baseUrl: url, getToken: () => token }))
}

/** Help texts of a command. */
export interface CommandText {
  /** Name and arguments, such as `show <task>`. */
  readonly usage: string
  readonly summary: string
  readonly examples: readonly string[]
}

/** Adds a command with examples in its help. */
export function addCommand(parent: Command, { usage, summary, examples }: CommandText): Command {
  const heading = examples.length === 1 ? 'Example' : 'Examples'
  return parent
    .command(usage)
    .description(summary)
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', `\n${heading}:\n${examples.map((example) => `  $ ${example}`).join('\n')}`)
}

/** Adds a command that only groups others. */
export function addGroup(parent: Command, name: string, summary: string): Command {
  return parent.command(name).description(summary).helpOption('-h, --help', 'show this help').helpCommand(false)
}

/** Adds a command that calls the service. */
export function addClientCommand(parent: Command, text: CommandText): Command {
  return addCommand(parent, text)
    .option('--url <address>', 'where Copse runs (SVC_API_URL; else the last sign-in, else http://127.0.0.1:4870)')
    .option('--json', 'print JSON')
}

/** Runs a command's work; prints an error as one line on stderr and sets the exit code. */
export async function runCommand(
  options: CommonOptions,
  work: (scene: CommandContext) => Promise<void>,
): Promise<void> {
  endWithReader()
  let url = ''
  try {
    const scene = createCommandContext(options)
    url = scene.url
    await work(scene)
  } catch (error) {
    const failure = failureOf(error, url)
    if (failure === null) throw error
    printFailure(failure, options.json === true)
    process.exitCode = failure.exitCode
  }
}

/** Returns a parser of whole numbers; it throws a usage error for anything else. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    if (value >= min && value <= max) return value
    throw new InvalidArgumentError(`Use a whole number from ${min} to ${max}.`)
  }
}

/** Collects the values of an option that may be repeated. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}
