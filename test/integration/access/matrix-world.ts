import { v7 } from 'uuid'
import { newTaskDefaults } from '../../../src-main/tasks/rules/create-task.ts'
import type { Store } from '../../../src-main/ports/store.ts'
import { insertApiToken } from '../../../src-main/store/api-tokens.ts'
import { createOpaqueToken, hashToken } from '../../../src-main/identity/opaque-tokens.ts'
import { insertInvite } from '../../../src-main/store/invites.ts'
import { putSession } from '../../../src-main/store/sessions.ts'
import type { OpenDatabase } from '../../../src-main/store/database.ts'
import { present } from '../../helpers/present.ts'
import type { RunnerRecord } from '../../../src-main/ports/runner-queries.ts'
import type { AgentId, DaemonId, ExecutionId, ProjectId, TaskId, UserId } from '../../../src-shared/contract/ids.ts'

const at = '2026-11-21T09:30:00.000Z'
const later = '2999-01-01T00:00:00.000Z'

export interface People {
  readonly admin: UserId
  readonly owner: UserId
  readonly member: UserId
  readonly stranger: UserId
}

/** The tokens of the machine's programs: of runs and daemons. */
type ProgramTokens = Readonly<
  Record<'agent' | 'agent of another task' | 'agent of another project' | 'daemon' | 'another daemon', string>
>

/** One fresh record of each kind for a call, so that no call meets the changes of another. */
export interface World {
  readonly ids: Readonly<Record<string, string>>
  readonly tokens: ProgramTokens
}

export interface WorldKind {
  /** The project is a system project. */
  readonly system?: boolean
  /** The runs are contained, as their agents are. */
  readonly contained?: boolean
  /** A person has said which agent starts on the task once another one is done. */
  readonly waiting?: boolean
}

const recordIds = [
  ...['project_id', 'task_id', 'other_task_id', 'execution_id', 'comment_id', 'knowledge_id', 'attachment_id'],
  ...[
    'template_id',
    'notification_id',
    'agent_id',
    'loose_agent_id',
    'daemon_id',
    'runner_id',
    'token_id',
    'session_id',
  ],
  ...['invite_id', 'repo_id', 'elsewhere_id', 'elsewhere_repo_id', 'elsewhere_task_id'],
]

/** Creates a project of the owner's (or with `system` of no one's) with all its records. */
export function buildWorld(store: Store, { db }: OpenDatabase, people: People, kind: WorldKind = {}): World {
  const { system = false, contained = false, waiting = false } = kind
  const ids = Object.fromEntries(recordIds.map((name) => [name, v7()])) as Record<string, string>
  const id = <T extends string>(name: string) => ids[name] as T
  const owner_id = system ? null : people.owner
  const other = { agent: v7() as AgentId, daemon: v7() as DaemonId, executions: [v7(), v7()] as ExecutionId[] }
  const made = { agent: createOpaqueToken('svc'), daemon: createOpaqueToken('svcd') }
  const anotherDaemon = createOpaqueToken('svcd')
  const runs = [
    [id<ExecutionId>('execution_id'), 'task_id', 'project_id', id<AgentId>('agent_id'), made.agent],
    [other.executions[0], 'other_task_id', 'project_id', other.agent, createOpaqueToken('svc')],
    [other.executions[1], 'elsewhere_task_id', 'elsewhere_id', other.agent, createOpaqueToken('svc')],
  ] as const
  insertApiToken(db, { ...token, id: id('token_id'), token_hash: v7(), user_id: people.owner })
  putSession(db, { ...session, id: id('session_id'), user_id: people.owner })
  insertInvite(db, { ...invite, id: id('invite_id'), code_hash: v7(), created_by: people.admin })
  store.write((q) => {
    for (const [name, owner, its] of [
      ['project_id', owner_id, 'repo_id'],
      ['elsewhere_id', people.owner, 'elsewhere_repo_id'],
    ] as const) {
      q.projects.put({ ...project, id: id(name), key: q.projects.freeKey(project.name), owner_id: owner })
      q.repos.put({ ...repo, id: id(its), project_id: id(name) })
    }
    q.members.put(id('project_id'), people.owner, 'owner')
    q.members.put(id('project_id'), people.member, 'member')
    const how = contained ? ({ executor: 'command', config: containedConfig } as const) : {}
    q.agents.put({ ...agent, ...how, id: id('agent_id'), owner_id: people.owner })
    q.agents.put({ ...agent, ...how, id: other.agent, owner_id: people.owner })
    q.agents.put({ ...agent, id: id('loose_agent_id'), owner_id: people.owner })
    q.daemons.put({ ...daemon, id: id('daemon_id'), token_hash: hashToken(made.daemon), owner_id: people.owner })
    q.daemons.put({ ...daemon, id: other.daemon, token_hash: hashToken(anotherDaemon), owner_id: people.owner })
    q.runners.put({ ...runner, id: id('runner_id') })
    for (const [name, of, its] of [
      ['task_id', 'project_id', 'repo_id'],
      ['other_task_id', 'project_id', 'repo_id'],
      ['elsewhere_task_id', 'elsewhere_id', 'elsewhere_repo_id'],
    ] as const) {
      const number = q.tasks.nextNumber(id(of))
      q.tasks.put({ ...task, id: id(name), project_id: id(of), number, repo_id: id(its) })
    }
    const of = { project_id: id<ProjectId>('project_id'), task_id: id<TaskId>('task_id') }
    if (waiting) {
      const start_when_ready = { agent_id: id<AgentId>('agent_id'), overrides: {}, by: 'user:owner', since: at }
      q.tasks.put({ ...present(q.tasks.get(of.task_id)), start_when_ready })
      q.dependencies.add(of.task_id, id('other_task_id'))
    }
    for (const [execution_id, of_task, of_project, agent_id] of runs) {
      const its = { task_id: id<TaskId>(of_task), project_id: id<ProjectId>(of_project), agent_id }
      const containment = contained ? ('worktree' as const) : null
      q.executions.put({ ...execution, ...its, id: execution_id as ExecutionId, containment })
    }
    q.comments.put({ ...comment, id: id('comment_id'), task_id: of.task_id, author: authorOf(people.member) })
    q.knowledge.put({ ...note, id: id('knowledge_id'), project_id: of.project_id })
    q.attachments.put({ ...attachment, ...of, id: id('attachment_id') })
    q.task_templates.put({ ...template, id: id('template_id'), project_id: of.project_id })
    q.notifications.put({ ...notice, ...of, id: id('notification_id') })
  })
  const last_used_at = new Date().toISOString()
  for (const [execution_id, of_task, of_project, agent_id, text] of runs) {
    const bound = { agent_id, project_id: id<ProjectId>(of_project), task_id: id<TaskId>(of_task) }
    const row = { ...token, ...bound, execution_id: execution_id as ExecutionId, user_id: null, last_used_at }
    insertApiToken(db, { ...row, id: v7() as never, token_hash: hashToken(text) })
  }
  const tokens = {
    agent: made.agent,
    'agent of another task': runs[1][4],
    'agent of another project': runs[2][4],
    daemon: made.daemon,
    'another daemon': anotherDaemon,
  }
  return { ids: { ...ids, user_id: people.member }, tokens }
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

const authorOf = (id: UserId) => ({ type: 'user', id, name: 'Member' }) as const
const containedConfig = { command: 'true', containment: 'worktree' } as const
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
const daemon = { name: 'D', hostname: null, version: null, created_at: at, last_seen_at: null, revoked_at: null }
const runner = {
  name: 'Box',
  kind: 'container',
  config: { engine: null, image: 'none', devcontainer: false, network: 'open', setup: [] },
  projects: null,
  capacity: 1,
  grace_seconds: 600,
  state: 'ready',
  last_error: null,
  created_at: at,
} satisfies Omit<RunnerRecord, 'id'>
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
  runner_id: null,
  attempt: 1,
  link: null,
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
