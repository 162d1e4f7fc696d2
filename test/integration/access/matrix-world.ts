import { v7 } from 'uuid'
import { newTaskDefaults } from '../../../src-main/domain/task/create-task.ts'
import type { Principal } from '../../../src-main/domain/access/principal.ts'
import type { Store } from '../../../src-main/ports/store.ts'
import { createOpaqueToken, hashToken } from '../../../src-main/identity/opaque-tokens.ts'
import { insertApiToken } from '../../../src-main/store/api-tokens.ts'
import { insertInvite } from '../../../src-main/store/invites.ts'
import { putSession } from '../../../src-main/store/sessions.ts'
import type { OpenDatabase } from '../../../src-main/store/database.ts'
import type { AgentId, DaemonId, ProjectId, TaskId, TokenId, UserId } from '../../../src-shared/contract/ids.ts'

const at = '2026-11-21T09:30:00.000Z'
const later = '2999-01-01T00:00:00.000Z'

export interface People {
  readonly admin: UserId
  readonly owner: UserId
  readonly member: UserId
  readonly stranger: UserId
}

/** One fresh record of each kind for a call, so that no call meets the changes of another. */
export interface World {
  readonly ids: Readonly<Record<string, string>>
  readonly callers: Readonly<Record<Caller, Principal>>
  /** The tokens of those callers whose requests are also sent over HTTP. */
  readonly tokens: Readonly<Record<TokenCaller, string>>
}

const callers = [
  ...(['nobody', 'operator', 'admin', 'owner', 'member', 'member by PAT', 'stranger'] as const),
  ...(['read-only token', 'contained run'] as const),
  ...(['agent', 'agent of another task', 'agent of another project', 'daemon', 'another daemon'] as const),
] as const
export type Caller = (typeof callers)[number]
export type TokenCaller = 'stranger' | 'read-only token' | 'contained run'

/** The caller, and whether the project is a system project. */
export const columns: readonly { readonly title: string; readonly who: Caller; readonly system: boolean }[] = [
  ...callers.map((who) => ({ title: who, who, system: false })),
  { title: 'stranger in a system project', who: 'stranger', system: true },
]

/** Creates a project of the owner's (or with `system` of no one's) with all its records. */
export function buildWorld(store: Store, { db }: OpenDatabase, people: People, system: boolean): World {
  const ids = Object.fromEntries(
    'project_id task_id other_task_id execution_id comment_id knowledge_id attachment_id template_id notification_id agent_id contained_agent_id contained_execution_id daemon_id token_id session_id invite_id repo_id elsewhere_id'
      .split(' ')
      .map((name) => [name, v7()]),
  ) as Record<string, string>
  const id = <T extends string>(name: string) => ids[name] as T
  const owner_id = system ? null : people.owner
  insertApiToken(db, { ...token, id: id('token_id'), token_hash: v7(), user_id: people.owner })
  putSession(db, { ...session, id: id('session_id'), user_id: people.owner })
  const tokens = {
    stranger: createOpaqueToken('svc'),
    'read-only token': createOpaqueToken('svc'),
    'contained run': createOpaqueToken('svc'),
  }
  insertApiToken(db, {
    ...token,
    id: v7() as TokenId,
    token_hash: hashToken(tokens.stranger),
    user_id: people.stranger,
  })
  const owned = { ...token, user_id: people.owner }
  insertApiToken(db, { ...owned, id: v7() as TokenId, token_hash: hashToken(tokens['read-only token']), scope: 'read' })
  insertApiToken(db, {
    ...owned,
    id: v7() as TokenId,
    token_hash: hashToken(tokens['contained run']),
    user_id: null,
    agent_id: id('contained_agent_id'),
    project_id: id('project_id'),
    task_id: id('task_id'),
    execution_id: id('contained_execution_id'),
  })
  insertInvite(db, { ...invite, id: id('invite_id'), code_hash: v7(), created_by: people.admin })
  store.write((q) => {
    for (const [name, owner] of [
      ['project_id', owner_id],
      ['elsewhere_id', people.owner],
    ] as const) {
      q.projects.put({ ...project, id: id(name), key: q.projects.freeKey(project.name), owner_id: owner })
    }
    q.repos.put({ ...repo, id: id('repo_id'), project_id: id('project_id') })
    q.members.put(id('project_id'), people.owner, 'owner')
    q.members.put(id('project_id'), people.member, 'member')
    q.agents.put({ ...agent, id: id('agent_id'), owner_id: people.owner })
    q.agents.put({ ...contained, id: id('contained_agent_id'), owner_id: people.owner })
    q.daemons.put({ ...daemon, id: id('daemon_id'), token_hash: v7(), owner_id: people.owner })
    for (const name of ['task_id', 'other_task_id']) {
      const number = q.tasks.nextNumber(id('project_id'))
      q.tasks.put({ ...task, id: id(name), project_id: id('project_id'), number, repo_id: id('repo_id') })
    }
    const of = { project_id: id<ProjectId>('project_id'), task_id: id<TaskId>('task_id') }
    q.executions.put({ ...execution, ...of, id: id('execution_id'), agent_id: id('agent_id') })
    q.executions.put({
      ...execution,
      ...of,
      id: id('contained_execution_id'),
      agent_id: id('contained_agent_id'),
      executor: 'command',
      role: 'helper',
      containment: 'worktree',
    })
    q.comments.put({ ...comment, id: id('comment_id'), task_id: of.task_id, author: authorOf(people.member) })
    q.knowledge.put({ ...note, id: id('knowledge_id'), project_id: of.project_id })
    q.attachments.put({ ...attachment, ...of, id: id('attachment_id') })
    q.task_templates.put({ ...template, id: id('template_id'), project_id: of.project_id })
    q.notifications.put({ ...notice, ...of, id: id('notification_id') })
  })
  return { ids: { ...ids, user_id: people.member }, callers: callersOf(people, id), tokens }
}

/** Keeps worlds by name for as long as no other connection, which is the service's, has written anything. */
export function createWorlds({ db }: OpenDatabase): (name: string, build: () => World) => World {
  const commits = () => db.$client.pragma('data_version', { simple: true })
  const worlds = new Map<string, World>()
  let seen = commits()
  return (name, build) => {
    if (commits() !== seen) worlds.clear()
    seen = commits()
    const world = worlds.get(name) ?? build()
    worlds.set(name, world)
    return world
  }
}

function callersOf(people: People, id: <T extends string>(name: string) => T): Record<Caller, Principal> {
  const user = (user_id: UserId, handle: string, more: object = {}): Principal => ({
    kind: 'user',
    user_id,
    handle,
    is_admin: false,
    via: 'jwt',
    ...more,
  })
  const bound = (project: string, task: string, own: boolean): Principal => ({
    kind: 'agent',
    agent_id: own ? id('agent_id') : (v7() as AgentId),
    project_id: id(project),
    task_id: id(task),
    execution_id: own ? id('execution_id') : (v7() as never),
  })
  return {
    nobody: { kind: 'anonymous' },
    operator: { kind: 'operator' },
    admin: user(people.admin, 'admin', { is_admin: true }),
    owner: user(people.owner, 'owner'),
    member: user(people.member, 'member'),
    'member by PAT': user(people.member, 'member', { via: 'pat' }),
    stranger: user(people.stranger, 'stranger'),
    'read-only token': user(people.owner, 'owner', { via: 'pat', scope: 'read' }),
    'contained run': {
      ...bound('project_id', 'task_id', true),
      agent_id: id('contained_agent_id'),
      execution_id: id('contained_execution_id'),
    } as Principal,
    agent: bound('project_id', 'task_id', true),
    'agent of another task': bound('project_id', 'other_task_id', false),
    'agent of another project': bound('elsewhere_id', 'task_id', false),
    daemon: { kind: 'daemon', daemon_id: id('daemon_id') },
    'another daemon': { kind: 'daemon', daemon_id: v7() as DaemonId },
  }
}

const authorOf = (id: UserId) => ({ type: 'user', id, name: 'Member' }) as const
const session = { created_at: at, last_used_at: at, expires_at: later, address: null, client: null }
const invite = { created_at: at, expires_at: later }
const token = {
  name: 'ci',
  scope: 'full',
  created_at: at,
  expires_at: null,
  last_used_at: null,
  agent_id: null,
  project_id: null,
  task_id: null,
  execution_id: null,
  revoked_at: null,
} as const
const project = {
  name: 'P',
  paused_at: null,
  workflow_definition: '',
  settings: {},
  created_at: at,
  updated_at: at,
}
const repo = { name: 'r', path: '/nowhere/at/all', default_branch: 'main', is_primary: true }
const agent = { name: 'A', daemon_id: null, executor: 'external', config: {}, paused: false, created_at: at } as const
const contained = {
  ...agent,
  name: 'C',
  executor: 'command',
  config: { command: 'true', containment: 'worktree' },
} as const
const daemon = { name: 'D', hostname: null, version: null, created_at: at, last_seen_at: null, revoked_at: null }
const task = {
  title: 'T',
  status: 'backlog',
  ...newTaskDefaults,
  review_config: { ci_steps: [], review_prompt: null },
  roles: {},
  labels: [],
  priority: 0,
  position: 1,
  created_at: at,
  updated_at: at,
}
const template = {
  name: 'Bug',
  title: '',
  description: null,
  priority: 0,
  labels: [],
  review_config: {},
  roles: {},
  repo_id: null,
  created_at: at,
  updated_at: at,
}
const execution = {
  role: 'coder',
  user_id: null,
  executor: 'external',
  status: 'running',
  dispatched: true,
  retry_at: null,
  queue_rank: null,
  exit_code: null,
  prompt: '',
  overrides: {},
  session_id: null,
  usage: null,
  error: null,
  summary: null,
  prompt_parts: null,
  start_commit: null,
  repository_state: null,
  containment: null,
  pid: null,
  pid_started: null,
  started_at: at,
  finished_at: null,
  last_heartbeat_at: null,
  created_at: at,
} as const
const comment = {
  parent_id: null,
  body: 'B',
  anchor: null,
  sent: null,
  answer: null,
  original: null,
  applied: null,
  resolved_at: null,
  created_at: at,
  updated_at: at,
}
const note = {
  title: 'N',
  status: 'accepted',
  accepted_by: null,
  body: 'B',
  source: { by: 'system', task_id: null, execution_id: null },
  edited_by: null,
  created_at: at,
  updated_at: at,
} as const
const attachment = {
  name: 'a.txt',
  media_type: 'text/plain',
  size: 1,
  sha256: '0'.repeat(64),
  created_by: 'operator',
  created_at: at,
}
const notice = { event_type: 'task.done', title: 'Done', body: null, created_at: at } as const
