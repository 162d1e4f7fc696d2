import { expect, test } from 'vitest'
import { maySeeAgent, mayWorkIn, ownsAgent } from '../../../../src-main/domain/access/agents.ts'
import { checkAccess, checkToken, type AccessFacts } from '../../../../src-main/domain/access/policy.ts'
import { actorOf, type Principal } from '../../../../src-main/domain/access/principal.ts'
import type { AgentId, DaemonId, ExecutionId, ProjectId, TaskId, UserId } from '../../../../src-shared/contract/ids.ts'
import { callerRules } from '../../../../src-shared/contract/operation.ts'

const project = 'p' as ProjectId
const ann = 'u1' as UserId
const person = (more: Partial<Principal & { kind: 'user' }> = {}): Principal => ({
  kind: 'user',
  user_id: ann,
  handle: 'ann',
  is_admin: false,
  via: 'jwt',
  ...more,
})
const bound: Principal = {
  kind: 'agent',
  agent_id: 'a' as AgentId,
  project_id: project,
  task_id: 't' as TaskId,
  execution_id: 'e' as ExecutionId,
}
const mine = 'd' as DaemonId
const daemon: Principal = { kind: 'daemon', daemon_id: mine }
const of = (role: 'owner' | 'member' | null, owner_id: UserId | null = 'u9' as UserId): AccessFacts => ({
  project: { id: project, owner_id, role },
})
const elsewhere: AccessFacts = { project: { id: 'q' as ProjectId, owner_id: ann, role: null } }

/**
 * In the order of the rules: public, anyone, human, jwt, admin, admin_jwt, member, task_worker, member_human, owner,
 * daemon.
 */
const ok = 'ok'
const notIt = 'daemon_token_required'
const table: [string, Principal, AccessFacts, string[]][] = [
  ['nobody', { kind: 'anonymous' }, of(null), [ok, ...Array<string>(10).fill('missing_token')]],
  ['the operator', { kind: 'operator' }, of(null, null), [...Array<string>(10).fill(ok), notIt]],
  ['an admin', person({ is_admin: true }), of(null), [ok, ok, ok, ok, ok, ok, ok, ok, ok, ok, notIt]],
  ['an owner', person(), of('owner'), [ok, ok, ok, ok, 'admin_required', 'admin_required', ok, ok, ok, ok, notIt]],
  [
    'a member',
    person(),
    of('member'),
    [ok, ok, ok, ok, 'admin_required', 'admin_required', ok, ok, ok, 'owner_required', notIt],
  ],
  [
    'a member with a PAT',
    person({ via: 'pat' }),
    of('member'),
    [ok, ok, ok, 'jwt_required', 'admin_required', 'admin_required', ok, ok, ok, 'owner_required', notIt],
  ],
  [
    'an admin with a PAT',
    person({ via: 'pat', is_admin: true }),
    of(null),
    [ok, ok, ok, 'jwt_required', ok, 'jwt_required', ok, ok, ok, ok, notIt],
  ],
  [
    'a stranger',
    person(),
    of(null),
    [
      ok,
      ok,
      ok,
      ok,
      'admin_required',
      'admin_required',
      'not_a_member',
      'not_a_member',
      'not_a_member',
      'not_a_member',
      notIt,
    ],
  ],
  [
    'anybody in a system project',
    person(),
    of(null, null),
    [ok, ok, ok, ok, 'admin_required', 'admin_required', ok, ok, ok, 'owner_required', notIt],
  ],
  [
    'an agent in its project',
    bound,
    of(null),
    [ok, ok, 'humans_only', 'humans_only', 'humans_only', 'humans_only', ok, ok, 'humans_only', 'humans_only', notIt],
  ],
  [
    'an agent about another task of its project',
    bound,
    { ...of(null), other_task: true },
    [
      ok,
      ok,
      'humans_only',
      'humans_only',
      'humans_only',
      'humans_only',
      ok,
      'forbidden',
      'humans_only',
      'humans_only',
      notIt,
    ],
  ],
  [
    'an agent elsewhere',
    bound,
    elsewhere,
    [
      ok,
      'not_a_member',
      'humans_only',
      'humans_only',
      'humans_only',
      'humans_only',
      'not_a_member',
      'not_a_member',
      'humans_only',
      'humans_only',
      notIt,
    ],
  ],
  [
    'a person about no project',
    person(),
    { project: null },
    [ok, ok, ok, ok, 'admin_required', 'admin_required', ok, ok, ok, ok, notIt],
  ],
  ['a daemon', daemon, { project: null, daemon: mine }, [ok, ...Array<string>(9).fill('invalid_token'), ok]],
  [
    'a daemon about another',
    daemon,
    { project: null, daemon: 'd2' as DaemonId },
    [ok, ...Array<string>(9).fill('invalid_token'), 'forbidden'],
  ],
]

test.each(table)('decides what %s may do, rule by rule', (_who, principal, facts, expected) => {
  expect(callerRules.map((rule) => checkAccess(rule, principal, facts)?.code ?? ok)).toEqual(expected)
})

test('refuses a read-only token everything but reads', () => {
  const reader = person({ via: 'pat', scope: 'read', is_admin: true })
  expect(callerRules.map((rule) => checkToken(rule, reader, true)?.code)).toEqual(
    callerRules.map(() => 'read_only_token'),
  )
  expect(callerRules.map((rule) => checkToken(rule, reader, false))).toEqual(callerRules.map(() => null))
})

test('lets an agent work where everyone may, and where its owner is a member', () => {
  const owned = { owner_id: ann }
  expect([
    mayWorkIn(owned, { owner_id: null }, false),
    mayWorkIn({ owner_id: null }, { owner_id: null }, false),
    mayWorkIn(owned, { owner_id: ann }, true),
    mayWorkIn(owned, { owner_id: ann }, false),
    mayWorkIn({ owner_id: null }, { owner_id: ann }, true),
  ]).toEqual([true, true, true, false, false])
})

test('shows people their own agents, ownerless ones, and those of people in shared projects', () => {
  const theirs = { owner_id: 'u2' as UserId }
  const shared = (in_project: boolean) => () => new Set(in_project ? [project] : [])
  const sees = (who: Principal, agent: { owner_id: UserId | null }, share = false) =>
    maySeeAgent(who, agent, shared(share), new Set([project]))
  expect([
    sees(person(), { owner_id: ann }),
    sees(person(), { owner_id: null }),
    sees(person(), theirs),
    sees(person(), theirs, true),
    sees(person({ is_admin: true }), theirs),
    sees({ kind: 'operator' }, theirs),
    sees({ kind: 'anonymous' }, theirs, true),
  ]).toEqual([true, true, false, true, true, true, false])
  expect([
    ownsAgent(person(), theirs),
    ownsAgent(person(), { owner_id: ann }),
    ownsAgent(bound, { owner_id: null }),
  ]).toEqual([false, true, false])
})

test('names people by handle and agents by ID in the audit', () => {
  expect([actorOf(person()), actorOf(bound), actorOf({ kind: 'operator' })]).toEqual([
    'user:ann',
    'agent:a',
    'user:local',
  ])
})
