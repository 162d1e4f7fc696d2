import type { Refusal } from '../../../src-shared/contract/errors.ts'
import type { DaemonId, ProjectId, UserId } from '../../../src-shared/contract/ids.ts'
import type { CallerRule } from '../../../src-shared/contract/operation.ts'
import type { Principal } from './principal.ts'

/** The project that a call is about, as far as rights go; null where it is about none. */
export interface AccessFacts {
  readonly project: {
    readonly id: ProjectId
    readonly owner_id: UserId | null
    /** The caller's own membership. */
    readonly role: 'owner' | 'member' | null
  } | null
  /** The daemon that a call is about. */
  readonly daemon?: DaemonId
}

/** Whether the caller's token is any good for an operation, before anything else of the request is looked at. */
export function checkToken(rule: CallerRule, principal: Principal): Refusal | null {
  if (rule === 'public') return null
  if (principal.kind === 'anonymous') return { code: 'missing_token', message: 'Send a token: Authorization: Bearer …' }
  if (principal.kind !== 'daemon' || rule === 'daemon') return null
  return {
    code: 'invalid_token',
    message: 'A daemon’s token works for its reports only. Use a token of your own here.',
  }
}

/** Whether a caller may do what an operation's rule guards: null, or why not. */
export function checkAccess(rule: CallerRule, principal: Principal, facts: AccessFacts): Refusal | null {
  const refused = checkToken(rule, principal)
  if (refused !== null || rule === 'public') return refused
  if (rule === 'daemon') return checkDaemon(principal, facts)
  switch (principal.kind) {
    case 'anonymous':
    case 'daemon':
    case 'operator':
      return null
    case 'agent':
      return checkAgent(rule, principal.project_id, facts)
    case 'user':
      return checkUser(rule, principal, facts)
  }
}

function checkDaemon(principal: Principal, { daemon }: AccessFacts): Refusal | null {
  if (principal.kind !== 'daemon') {
    return {
      code: 'daemon_token_required',
      message: 'Only the daemon itself reports, with the token it got when it registered.',
    }
  }
  return daemon === principal.daemon_id ? null : { code: 'forbidden', message: 'This token belongs to another daemon.' }
}

function checkAgent(rule: CallerRule, bound: ProjectId, facts: AccessFacts): Refusal | null {
  if (rule !== 'anyone' && rule !== 'member') return { code: 'humans_only', message: 'Only people may do this.' }
  if (facts.project && facts.project.id !== bound) {
    return { code: 'not_a_member', message: 'This token works in the project of its task only.' }
  }
  return null
}

function checkUser(rule: CallerRule, user: Principal & { kind: 'user' }, facts: AccessFacts): Refusal | null {
  if (rule === 'admin') return user.is_admin ? null : { code: 'admin_required', message: 'Only an admin may do this.' }
  if (rule === 'jwt' && user.via === 'pat') {
    return {
      code: 'jwt_required',
      message: 'Sign in with your password for this; a personal access token is not enough.',
    }
  }
  const { project } = facts
  if (!project || rule === 'anyone' || rule === 'human' || rule === 'jwt') return null
  const isSystem = project.owner_id === null
  if (rule === 'owner') {
    if (user.is_admin || project.role === 'owner') return null
    if (project.role === null && !isSystem)
      return { code: 'not_a_member', message: 'You are not a member of this project.' }
    return { code: 'owner_required', message: 'Only an owner of the project may do this.' }
  }
  if (isSystem || project.role !== null || user.is_admin) return null
  return { code: 'not_a_member', message: 'You are not a member of this project. Ask its owner to add you.' }
}
