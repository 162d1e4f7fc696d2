import type { ErrorCode, Refusal } from '../../../src-shared/contract/errors.ts'
import type { DaemonId, ProjectId, UserId } from '../../../src-shared/contract/ids.ts'
import type { MemberRole } from '../../../src-shared/contract/members.ts'
import type { CallerRule } from '../../../src-shared/contract/operation.ts'
import { mayOnlyRead, type Principal } from './principal.ts'

/** The facts that decide a caller's rights for a call. */
export interface AccessFacts {
  /** null when the call concerns no project. */
  readonly project: {
    readonly id: ProjectId
    readonly owner_id: UserId | null
    /** The caller's own membership. */
    readonly role: MemberRole | null
  } | null
  /** For an agent: whether the call concerns a task that is neither its own nor a subtask of it. */
  readonly other_task?: boolean
  /** The daemon that the call concerns. */
  readonly daemon?: DaemonId
}

/**
 * The caller's relation to the subject of a call. `person`: the call concerns no project. `visitor`: in a system
 * project without a membership. `other_task`: an agent whose own task is another one of the project. `elsewhere`: an
 * agent outside the project of its task. `other_daemon`: a daemon other than the named one.
 */
const standings = [
  ...(['anonymous', 'operator', 'admin', 'person', 'owner', 'member', 'visitor', 'stranger'] as const),
  ...(['agent', 'other_task', 'elsewhere', 'daemon', 'other_daemon'] as const),
] as const
type Standing = (typeof standings)[number]

type Row = Partial<Record<Standing, ErrorCode>>

const everybodyBut = (allowed: readonly Standing[], code: ErrorCode): Row =>
  Object.fromEntries(standings.filter((standing) => !allowed.includes(standing)).map((standing) => [standing, code]))

const withToken: Row = { anonymous: 'missing_token', daemon: 'invalid_token', other_daemon: 'invalid_token' }
const human: Row = { ...withToken, agent: 'humans_only', other_task: 'humans_only', elsewhere: 'humans_only' }

const admin: Row = { ...everybodyBut(['operator', 'admin'], 'admin_required'), ...human }

/**
 * The policy: for each rule (operations name one), who is refused and with which code; all others may. The result for
 * every operation is in test/integration/access/matrix.txt.
 */
const refused: Readonly<Record<CallerRule, Row>> = {
  public: {},
  anyone: { ...withToken, elsewhere: 'not_a_member' },
  human,
  jwt: human,
  admin,
  admin_jwt: admin,
  member: { ...withToken, stranger: 'not_a_member', elsewhere: 'not_a_member' },
  task_worker: { ...withToken, stranger: 'not_a_member', other_task: 'forbidden', elsewhere: 'not_a_member' },
  member_human: { ...human, stranger: 'not_a_member' },
  owner: { ...human, member: 'owner_required', visitor: 'owner_required', stranger: 'not_a_member' },
  daemon: {
    ...everybodyBut(['daemon'], 'daemon_token_required'),
    anonymous: 'missing_token',
    other_daemon: 'forbidden',
  },
}

/** The messages of refusals by code. */
const messages: Partial<Record<ErrorCode, string>> = {
  missing_token: 'Send a token: Authorization: Bearer <token>.',
  invalid_token: 'The token of a remote machine works for its reports only. Use your own token here.',
  humans_only: "Agents can't do this. Ask a person.",
  read_only_token: 'This token can only read. Create one with full scope, or sign in.',
  jwt_required: "This needs a password sign-in. Access tokens can't do it.",
  admin_required: 'Only an admin can do this.',
  not_a_member: 'You are not a member of this project. Ask its owner to add you.',
  owner_required: 'Only a project owner can do this.',
  daemon_token_required: 'Only the remote machine itself can report, with the token from its registration.',
}
const forbiddenMessages: Partial<Record<Standing, string>> = {
  other_daemon: 'This token belongs to another remote machine.',
  other_task: 'An agent can change its own task and its subtasks. Elsewhere it can comment, or create a task.',
}

/**
 * Checks the caller's token for an operation before the rest of the request is read. `writes`: the operation changes
 * data.
 */
export function checkToken(rule: CallerRule, principal: Principal, writes: boolean): Refusal | null {
  if (writes && mayOnlyRead(principal)) return refusalOf('read_only_token')
  if (principal.kind !== 'anonymous' && principal.kind !== 'daemon') return null
  return refuse(rule, principal.kind)
}

/** Returns null if a caller may use an operation with this rule, otherwise the refusal. */
export function checkAccess(rule: CallerRule, principal: Principal, facts: AccessFacts): Refusal | null {
  const refusal = refuse(rule, standingOf(principal, facts))
  if (refusal) return refusal
  const needsPassword = rule === 'jwt' || rule === 'admin_jwt'
  return needsPassword && principal.kind === 'user' && principal.via === 'pat' ? refusalOf('jwt_required') : null
}

function refuse(rule: CallerRule, standing: Standing): Refusal | null {
  const code = refused[rule][standing]
  if (code === undefined) return null
  return refusalOf(code, code === 'forbidden' ? forbiddenMessages[standing] : messages[code])
}

const refusalOf = (code: ErrorCode, message = messages[code]): Refusal => ({
  code,
  message: message ?? "You don't have permission to do this.",
})

function standingOf(principal: Principal, { project, other_task = false, daemon }: AccessFacts): Standing {
  switch (principal.kind) {
    case 'anonymous':
    case 'operator':
      return principal.kind
    case 'daemon':
      return daemon === undefined || daemon === principal.daemon_id ? 'daemon' : 'other_daemon'
    case 'agent':
      if (project !== null && project.id !== principal.project_id) return 'elsewhere'
      return other_task ? 'other_task' : 'agent'
    case 'user':
      if (principal.is_admin) return 'admin'
      if (project === null) return 'person'
      return project.role ?? (project.owner_id === null ? 'visitor' : 'stranger')
  }
}
