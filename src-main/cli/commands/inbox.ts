import { Option, type Command } from 'commander'
import { ApiError } from '../../../src-shared/contract/errors.ts'
import { notificationKinds, type NotificationKind } from '../../../src-shared/contract/notification-types.ts'
import type { Notification } from '../../../src-shared/contract/notifications.ts'
import { usageError } from '../cli-error.ts'
import {
  addClientCommand,
  runCommand,
  wholeNumber,
  type CommandContext,
  type CommonOptions,
} from '../command-context.ts'
import { findProject, findTask } from '../find.ts'
import { paint, plain } from '../output.ts'
import { formatTable } from '../table.ts'

interface InboxOptions extends CommonOptions {
  readonly project?: string
  readonly all?: boolean
  readonly unread?: boolean
  readonly kind?: NotificationKind
  readonly limit: number
  readonly read?: string
  readonly readAll?: boolean
}

const usualLimit = 50

/** Adds `svc inbox`. */
export function addInbox(program: Command): void {
  addClientCommand(program, {
    usage: 'inbox',
    summary: 'list what is new, one row per task with its newest notification',
    examples: ['svc inbox', 'svc inbox --kind needs_you --unread', 'svc inbox --read SHO-42', 'svc inbox --all --json'],
  })
    .option('--project <project>', 'only of this project: ID or name')
    .option('--all', 'every notification, not only the newest of each task')
    .option('--unread', 'only what you have not read')
    .addOption(
      new Option('--kind <kind>', 'what needs you, what failed or what is finished').choices(notificationKinds),
    )
    .option('--limit <number>', 'how many at most', wholeNumber(1, 200), usualLimit)
    .option('--read <task>', 'mark everything about a task as read')
    .option('--read-all', 'mark everything as read')
    .action((options: InboxOptions) => runCommand(options, (scene) => run(scene, options)))
}

async function run(scene: CommandContext, options: InboxOptions): Promise<void> {
  if (options.read !== undefined && options.readAll === true) throw usageError('Use --read or --read-all, not both.')
  const project_id = options.project === undefined ? undefined : (await findProject(scene, options.project)).id
  if (options.readAll === true) {
    await scene.client.call('notifications.mark_all_read', { ...(project_id !== undefined && { project_id }) })
    await scene.out.answer(null, () => 'Everything is marked as read.')
  } else if (options.read === undefined) await list(scene, project_id, options)
  else await markRead(scene, options.read)
}

async function list(
  scene: CommandContext,
  project_id: string | undefined,
  { all, unread, kind, limit }: InboxOptions,
): Promise<void> {
  const { client, out } = scene
  const answer = await client.call('notifications.list', {
    limit,
    ...(all !== true && { newest: true }),
    ...(unread === true && { read: false }),
    ...(kind !== undefined && { kind }),
    ...(project_id !== undefined && { project_id }),
  })
  const refs = out.json ? new Map<string, string>() : await refsOf(scene, answer.items)
  const rows = answer.items.map(({ task_id, read, title, body, created_at }) => [
    read ? '' : 'new',
    refs.get(task_id) ?? '',
    created_at.slice(0, 16).replace('T', ' '),
    body === null ? title : `${title}: ${body.split('\n')[0] ?? ''}`,
  ])
  await out.answer(answer, () => {
    if (rows.length === 0) return unread === true ? 'Nothing unread.' : 'Nothing in the inbox.'
    const table = formatTable(['', 'TASK', 'WHEN (UTC)', 'WHAT'], rows)
    return answer.has_more ? `${table}\n${paint('dim', `More than ${limit}. Use --limit for more.`)}` : table
  })
}

/** Returns task refs by ID; a deleted task has none. */
async function refsOf({ client }: CommandContext, items: readonly Notification[]): Promise<Map<string, string>> {
  const refs = new Map<string, string>()
  const refOf = async (task_id: string) => {
    try {
      refs.set(task_id, plain((await client.call('tasks.get', { task_id })).ref))
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
    }
  }
  await Promise.all([...new Set(items.map(({ task_id }) => task_id))].map(refOf))
  return refs
}

async function markRead(scene: CommandContext, text: string): Promise<void> {
  const { client, out } = scene
  const { id, project_id, ref } = await findTask(scene, text)
  const unread: Notification[] = []
  let cursor: string | null = null
  do {
    const at: { cursor?: string } = cursor === null ? {} : { cursor }
    const page = await client.call('notifications.list', { project_id, read: false, limit: 200, ...at })
    unread.push(...page.items.filter(({ task_id }) => task_id === id))
    cursor = page.next_cursor
  } while (cursor !== null)
  const items = await Promise.all(
    unread.map(({ id: notification_id }) => client.call('notifications.mark_read', { notification_id })),
  )
  await out.answer({ items }, () => `Marked everything about ${ref} as read.`)
}
