import type { Command } from 'commander'
import type { ActiveSession, Invite } from '../../../src-shared/contract/identity.ts'
import { usageError } from '../cli-error.ts'
import { pick, shortId } from '../pick.ts'
import {
  addClientCommand,
  runCommand,
  wholeNumber,
  type CommonOptions,
  type CommandContext,
} from '../command-context.ts'
import { createPasswordPrompt, signedIn } from '../signed-in.ts'
import { formatTable } from '../table.ts'

interface InviteOptions extends CommonOptions {
  readonly days: number
  readonly list?: boolean
  readonly delete?: string
}

interface SessionsOptions extends CommonOptions {
  readonly end?: string
  readonly endOthers?: boolean
}

/**
 * Adds `svc invite`, `svc sessions` and `svc password`. A personal token may not call their operations, so each asks
 * for the password.
 */
export function addAccount(program: Command): void {
  addClientCommand(program, {
    usage: 'invite',
    summary: 'create an invite code for one person (admins only)',
    examples: ['svc invite', 'svc invite --days 1', 'svc invite --list', 'svc invite --delete 0a1b2c3d'],
  })
    .option('--days <number>', 'how long the code works', wholeNumber(1, 365), 7)
    .option('--list', 'show the invites that still work')
    .option('--delete <invite>', 'take an invite back')
    .action((options: InviteOptions) => runCommand(options, (scene) => invite(scene, options)))
  addClientCommand(program, {
    usage: 'sessions',
    summary: 'show where you are signed in, or end some of that',
    examples: ['svc sessions', 'svc sessions --end 0a1b2c3d', 'svc sessions --end-others'],
  })
    .option('--end <session>', 'end this one')
    .option('--end-others', 'end all sessions except this one')
    .action((options: SessionsOptions) => runCommand(options, (scene) => sessions(scene, options)))
  addClientCommand(program, {
    usage: 'password',
    summary: 'change your password; ends all your sessions elsewhere, personal tokens stay',
    examples: ['svc password', 'printf \'%s\\n\' "$OLD" "$NEW" | svc password'],
  }).action((options: CommonOptions) => runCommand(options, changePassword))
}

async function invite(scene: CommandContext, options: InviteOptions): Promise<void> {
  const { out } = scene
  if (options.list === true && options.delete !== undefined) throw usageError('Give --list or --delete, not both.')
  await signedIn(scene, createPasswordPrompt(), async (client) => {
    if (options.list === true) {
      const answer = await client.call('admin.list_invites', {})
      const table = () => formatTable(['ID', 'MADE', 'WORKS UNTIL'], answer.items.map(inviteRow))
      await out.answer(answer, () => (answer.items.length === 0 ? 'No open invites.' : table()))
    } else if (options.delete !== undefined) {
      const { items } = await client.call('admin.list_invites', {})
      const { id } = pick('invite', items.map(named), options.delete)
      await client.call('admin.delete_invite', { invite_id: id })
      await out.answer({ id }, () => 'The invite is taken back.')
    } else {
      const made = await client.call('admin.create_invite', { expires_in_seconds: options.days * 86_400 })
      out.info(`One person can register with this code until ${made.expires_at}. It isn't shown again.`)
      await out.answer(made, () => made.code)
    }
  })
}

const inviteRow = ({ id, created_at, expires_at }: Invite, _index: number, shown: readonly Invite[]) => [
  shortId(id, shown),
  created_at,
  expires_at,
]
const named = ({ id, created_at }: { readonly id: string; readonly created_at: string }) => ({
  id,
  title: created_at,
  isName: false,
})

async function sessions(scene: CommandContext, options: SessionsOptions): Promise<void> {
  const { out } = scene
  const { end, endOthers = false } = options
  if (end !== undefined && endOthers) throw usageError('Give --end or --end-others, not both.')
  await signedIn(scene, createPasswordPrompt(), async (client, password) => {
    if (endOthers) {
      await client.call('auth.delete_sessions', {})
      await out.answer({ ended: 'others' }, () => 'All other sessions are ended.')
      return
    }
    const { items } = await client.call('auth.list_sessions', {})
    // A session that was opened for this command ends with it.
    const shown = password === null ? items : items.filter(({ current }) => !current)
    if (end === undefined) {
      const table = () => formatTable(['ID', 'SINCE', 'LAST USED', 'FROM', 'WITH'], shown.map(sessionRow))
      await out.answer({ items: shown }, () => (shown.length === 0 ? 'You are signed in nowhere.' : table()))
      return
    }
    const { id } = pick('session', shown.map(named), end)
    await client.call('auth.delete_session', { session_id: id })
    await out.answer({ ended: id }, () => 'The session is ended.')
  })
}

const sessionRow = (
  { id, created_at, last_used_at, address, client, current }: ActiveSession,
  _index: number,
  shown: readonly ActiveSession[],
) => [
  shortId(id, shown),
  created_at,
  last_used_at,
  address ?? 'this machine',
  `${current ? '(this one) ' : ''}${client ?? ''}`,
]

async function changePassword(scene: CommandContext): Promise<void> {
  const passwords = createPasswordPrompt()
  await signedIn(scene, passwords, async (client, password) => {
    const current_password = password ?? (await passwords.next('Current password: '))
    const new_password = await passwords.next('New password: ')
    if (process.stdin.isTTY && new_password !== (await passwords.next('The new one again: '))) {
      throw usageError('The two are not the same. Nothing was changed.')
    }
    await client.call('auth.change_password', { current_password, new_password })
    await scene.out.answer({ changed: true }, () => 'The password is changed. All other sessions are ended.')
  })
}
