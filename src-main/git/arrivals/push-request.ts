import { GitProtocolError } from '../../ports/arrivals.ts'
import { readPktLines } from '../commands/pkt-lines.ts'

/** A change of a ref that a client asks for; null: no such ref. */
export interface PushCommand {
  readonly ref: string
  readonly from: string | null
  readonly to: string | null
}

export interface PushRequest {
  readonly commands: readonly PushCommand[]
  readonly capabilities: ReadonlySet<string>
  /** The client's history ends early. */
  readonly isShallow: boolean
  /** What follows the commands: the pack, nothing if refs are only deleted. */
  readonly pack: AsyncIterable<Uint8Array>
}

const maxCommands = 2_000

/** Reads the commands of a push. Throws `GitProtocolError` if it is none. */
export async function readPush(body: AsyncIterable<Uint8Array>): Promise<PushRequest> {
  const lines = readPktLines(body)
  const commands: PushCommand[] = []
  let capabilities: ReadonlySet<string> = new Set()
  let isShallow = false
  for (let line = await lines.line(); line !== 'flush'; line = await lines.line()) {
    if (line === null) throw new GitProtocolError('The request ended before all of it was there.')
    const [text = '', said] = line.toString('utf8').split('\0', 2)
    if (said !== undefined) capabilities = new Set(said.trim().split(' '))
    if (text.startsWith('shallow ')) isShallow = true
    else commands.push(parseCommand(text))
    if (commands.length > maxCommands)
      throw new GitProtocolError(`A push may change ${maxCommands} refs at most. Push them in parts.`)
  }
  return { commands, capabilities, isShallow, pack: lines.rest() }
}

function parseCommand(text: string): PushCommand {
  const [, from = '', to = '', ref = ''] = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (.+?)\n?$/.exec(text) ?? []
  if (from.length !== to.length || ref === '') throw new GitProtocolError('This is no push of git, version 0.')
  return { ref, from: idOrNull(from), to: idOrNull(to) }
}

const idOrNull = (id: string): string | null => (/^0+$/.test(id) ? null : id)
