import type { Command } from 'commander'
import type { FeedItem } from '../../../src-shared/contract/events.ts'
import { eventText } from '../event-text.ts'
import { findProject } from '../find.ts'
import { endStreamWithReader } from '../output.ts'
import { readResuming } from '../resume.ts'
import {
  addClientCommand,
  collect,
  runCommand,
  wholeNumber,
  type CommonOptions,
  type CommandContext,
} from '../command-context.ts'

interface EventOptions extends CommonOptions {
  readonly project?: string
  readonly since?: number
  readonly type?: readonly string[]
}

/** Adds `svc events`. */
export function addEvents(program: Command): void {
  addClientCommand(program, {
    usage: 'events',
    summary: 'print what happens in your projects, as it happens, until you end it',
    examples: [
      'svc events',
      'svc events --json --since 0 --type task.transitioned',
      'svc events --json | jq -r \'select(.type == "notification.created").data.title\'',
    ],
  })
    .option('--project <project>', 'only those of this project; id or name')
    .option('--since <number>', 'start after this event (its `seq`); 0 for all events kept', wholeNumber(0, 1e15 - 1))
    .option('--type <type>', 'only events of this type (repeatable)', collect)
    .action((options: EventOptions) => runCommand(options, (scene) => print(scene, options)))
}

async function print(scene: CommandContext, { project: text, since, type }: EventOptions): Promise<void> {
  const { client } = scene
  const input = text === undefined ? {} : { project_id: (await findProject(scene, text)).id }
  const isWanted = (name: string) => type === undefined || type.includes(name)
  const untilKilled = new AbortController().signal
  endStreamWithReader()
  let after = since ?? null
  await readResuming(async (onItem) => {
    for await (const item of client.events(input, after, untilKilled)) {
      onItem()
      if (item.kind === 'event') after = item.event.seq
      if (item.kind === 'begun' || item.kind === 'reset') after = item.seq
      await printItem(scene, item, isWanted)
    }
    return 'lost'
  })
}

/** Prints numbered events and gaps, and skips transient events. */
async function printItem({ out }: CommandContext, item: FeedItem, isWanted: (type: string) => boolean): Promise<void> {
  if (item.kind === 'reset') {
    const reset = { seq: item.seq, type: 'stream.reset', data: { seq: item.seq } }
    await out.writeItem(reset, () => `Events before ${item.seq} are no longer kept.`)
  } else if (item.kind === 'event' && isWanted(item.event.type)) {
    await out.writeItem(item.event, () => eventText(item.event))
  }
}
