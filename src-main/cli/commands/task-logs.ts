import type { Command } from 'commander'
import type { Execution, TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import { CliError, usageError } from '../cli-error.ts'
import { findTask } from '../find.ts'
import { endStreamWithReader, plain } from '../output.ts'
import { pick, shortId } from '../pick.ts'
import { readResuming } from '../resume.ts'
import { addClientCommand, runCommand, type CommonOptions, type CommandContext } from '../command-context.ts'
import { formatTable } from '../table.ts'
import { createTranscriptText } from '../transcript-text.ts'

interface LogOptions extends CommonOptions {
  readonly follow?: boolean
  readonly execution?: string
  readonly list?: boolean
}

/** Adds `svc task logs`. */
export function addTaskLogs(task: Command): void {
  addClientCommand(task, {
    usage: 'logs <task> [log]',
    summary: 'show the latest run’s transcript, or a raw log',
    examples: [
      'svc task logs SHO-42 -f',
      'svc task logs SHO-42 --json | jq -r \'select(.type == "message").text\'',
      'svc task logs SHO-42 --list',
    ],
  })
    .option('-f, --follow', 'follow until the run ends')
    .option('--execution <id>', 'a run other than the latest')
    .option('--list', 'list the logs: of agents, hooks and checks')
    .action((ref: string, name: string | undefined, options: LogOptions) =>
      runCommand(options, (scene) => showLogs(scene, ref, name, options)),
    )
}

async function showLogs(
  scene: CommandContext,
  ref: string,
  name: string | undefined,
  options: LogOptions,
): Promise<void> {
  if (options.follow === true && (name !== undefined || options.list === true)) {
    throw usageError('-f follows the newest agent of the task: leave out the name of a log, and --list.')
  }
  const { id } = await findTask(scene, ref)
  if (options.list === true) return listLogs(scene, id)
  if (name !== undefined) return printLog(scene, id, name)
  const execution = await findExecution(scene, id, options.execution)
  if (options.follow === true) return follow(scene, execution)
  const { print, end } = createPrinter(scene)
  for await (const line of linesOf(scene, execution)) await print(JSON.parse(line) as TranscriptEntry)
  await end()
}

async function listLogs({ client, out }: CommandContext, task_id: string): Promise<void> {
  const answer = await client.call('tasks.logs', { task_id })
  await out.answer(answer, () =>
    formatTable(
      ['LOG', 'OF', 'BYTES', 'WRITTEN'],
      answer.items.map(({ name, kind, size, updated_at }) => [name, kind, String(size), updated_at]),
    ),
  )
}

async function printLog({ client, out }: CommandContext, task_id: string, name: string): Promise<void> {
  let offset = 0
  for (;;) {
    const { data_base64, next_offset } = await client.call('tasks.read_log', { task_id, name, offset })
    if (next_offset === offset) return
    await out.raw(Buffer.from(data_base64, 'base64'))
    offset = next_offset
  }
}

async function findExecution(
  { client }: CommandContext,
  task_id: string,
  text: string | undefined,
): Promise<Execution> {
  const { items } = await client.call('tasks.executions', { task_id })
  const named = items.map((item) => ({ ...item, title: `${item.role}, ${item.status}`, isName: false }))
  if (text !== undefined) return pick('execution', named, text)
  const newest = items.find(({ agent_id }) => agent_id !== null)
  if (newest) return newest
  throw new CliError('not_found', `No runs yet. Start one with \`svc task claim ${shortId(task_id)} --agent <agent>\`.`)
}

interface Printer {
  readonly print: (entry: TranscriptEntry) => Promise<void>
  readonly end: () => Promise<void>
}

function createPrinter({ out }: CommandContext): Printer {
  const { next, end } = createTranscriptText()
  return {
    print: (entry) => (out.json ? out.writeItem(entry, () => null) : out.raw(next(entry))),
    end: async () => {
      const text = end()
      if (!out.json && text !== '') await out.raw(text)
    },
  }
}

/** Yields the transcript's complete lines; skips a line that is still being written. */
async function* linesOf({ client }: CommandContext, { id, task_id }: Execution): AsyncIterable<string> {
  const { items } = await client.call('executions.logs', { execution_id: id })
  const name = `agent-${id}.jsonl`
  if (!items.some((log) => log.name === name)) return
  const decoder = new TextDecoder()
  let offset = 0
  let rest = ''
  for (;;) {
    const piece = await client.call('tasks.read_log', { task_id, name, offset })
    if (piece.next_offset === offset) return
    const lines = (rest + decoder.decode(Buffer.from(piece.data_base64, 'base64'), { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line !== '')
    offset = piece.next_offset
  }
}

/** Prints until the execution has ended, across lost connections; then prints how it ended. */
async function follow(scene: CommandContext, { id }: Execution): Promise<void> {
  const { client, out } = scene
  const { print, end } = createPrinter(scene)
  const untilKilled = new AbortController().signal
  endStreamWithReader()
  let after: number | null = null
  let over: Execution | null = null
  await readResuming(async (onItem) => {
    for await (const item of client.transcript({ execution_id: id }, after, untilKilled)) {
      onItem()
      if (item.kind === 'end') {
        over = await unlessMoreComes(scene, id)
        return over === null ? 'lost' : 'ended'
      }
      after = item.index
      await print(item.entry)
    }
    return 'lost'
  })
  await end()
  out.info(outcomeText(over))
}

/**
 * Returns the execution if it has ended. A transcript also ends before it begins, while the agent waits for its slot
 * or its worktree; then waits for the next event and returns null.
 */
async function unlessMoreComes({ client }: CommandContext, execution_id: string): Promise<Execution | null> {
  const leave = new AbortController()
  const news = client.events({}, null, leave.signal)[Symbol.asyncIterator]()
  try {
    // Reads the execution only after the stream is open, so that no event is missed between.
    await news.next()
    const execution = await client.call('executions.get', { execution_id })
    if (execution.finished_at !== null) return execution
    await news.next()
    return null
  } finally {
    leave.abort()
  }
}

function outcomeText(execution: Execution | null): string {
  if (execution === null) return ''
  const { status, error } = execution
  return [`Run ended: ${status}.`, ...(error === null ? [] : [plain(error)])].join(' ')
}
