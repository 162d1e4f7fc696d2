import { expect, test } from 'vitest'
import { errorStatus } from '../../src-shared/contract/errors.ts'
import { notificationTypes, toneOf } from '../../src-shared/contract/notification-types.ts'
import { createOpenApi } from '../../src-shared/contract/openapi.ts'

// Repeats by hand what other programs rely on: the interface's names, types and addresses.

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}
interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: Content
  readonly responses: Readonly<Record<string, Content>>
}

const { paths, components } = createOpenApi('0.0.0') as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const resolve = (schema: Schema): Schema =>
  schema.$ref === undefined ? schema : (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {})
const variants = (schema: Schema): readonly Schema[] => schema.anyOf ?? schema.oneOf ?? [schema]

/** `string`, `integer | null`, `string[]` and the like; the name of a shared schema; the values of an enumeration. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? ''
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.join(' | ')
  if (schema.anyOf ?? schema.oneOf) return [...new Set(variants(schema).map(typeOf))].join(' | ')
  if (schema.type === 'array') return `${typeOf(schema.items ?? {})}[]`
  if (schema.format === 'date-time') return 'timestamp'
  return [schema.type ?? 'anything'].flat().join(' | ')
}

const typesOf = (schema: Schema): Record<string, string> =>
  Object.fromEntries(
    variants(resolve(schema))
      .flatMap((one) => Object.entries(resolve(one).properties ?? {}))
      .map(([name, field]) => [name, typeOf(field)]),
  )

function fieldsOf(name: string, ...path: readonly string[]): Record<string, string> {
  const at = path.reduce<Schema>((schema, key) => {
    const found = variants(resolve(schema)).map((one) => resolve(one).properties?.[key])
    const field = found.find((one) => one !== undefined) ?? {}
    return field.type === 'array' ? (field.items ?? {}) : field
  }, components.schemas[name] ?? {})
  return typesOf(at)
}

/** Describes an endpoint: its status, required and optional fields, and its answer. */
function endpoint(address: string) {
  const [method = '', path = ''] = address.split(' ')
  const same = (one: string) => one.replace(/\{\w+\}/g, '{}') === `/api/v1${path}`.replace(/\{\w+\}/g, '{}')
  const operation = Object.entries(paths).find(([one]) => same(one))?.[1][method.toLowerCase()]
  if (!operation) return null
  const body = Object.values(operation.requestBody?.content ?? {})[0]?.schema ?? {}
  const [status = '', answer] = Object.entries(operation.responses).find(([one]) => one.startsWith('2')) ?? []
  const required = [...(resolve(body).required ?? [])]
  const query = (operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name)
  return {
    status: Number(status),
    required,
    takes: typesOf(body),
    optional: [...Object.keys(typesOf(body)).filter((name) => !required.includes(name)), ...query],
    answer: typesOf(Object.values(answer?.content ?? {})[0]?.schema ?? {}),
  }
}

interface Expected {
  readonly status?: number
  readonly required?: readonly string[]
  readonly optional?: readonly string[]
  readonly answer?: Readonly<Record<string, string>>
}

/** More may be accepted and returned than the interface names, but nothing else required. */
function expectEndpoints(table: Readonly<Record<string, Expected>>): void {
  for (const [address, { status, required = [], optional = [], answer = {} }] of Object.entries(table)) {
    const found = endpoint(address)
    expect(found, address).toMatchObject({ required, answer, ...(status !== undefined && { status }) })
    expect(found?.optional, address).toEqual(expect.arrayContaining([...optional]))
  }
}

test('has the interface’s endpoints of accounts, members and daemons', () => {
  const session = { access_token: 'string', refresh_token: 'string' }
  const me = { id: 'string', email: 'string', display_name: 'string', is_admin: 'boolean', created_at: 'timestamp' }
  expectEndpoints({
    'POST /auth/register': { required: ['email', 'password', 'display_name'], answer: session },
    'POST /auth/login': { required: ['email'], optional: ['password'], answer: session },
    'POST /auth/refresh': { required: ['refresh_token'], answer: session },
    'POST /auth/logout': { required: ['refresh_token'] },
    'POST /auth/tokens': {
      required: ['name'],
      answer: { token: 'string', id: 'string', name: 'string', created_at: 'timestamp' },
    },
    'GET /auth/tokens': { answer: { items: 'PersonalAccessToken[]' } },
    'DELETE /auth/tokens/{pat_id}': {},
    'GET /auth/me': { answer: me },
    'GET /admin/users': { answer: { items: 'User[]' } },
    'GET /projects/{id}/members': { answer: { items: 'Member[]' } },
    'POST /projects/{id}/members': {},
    'DELETE /projects/{id}/members/{user_id}': {},
    'POST /daemons/{id}/report': {},
  })
  expect(fieldsOf('PersonalAccessToken')).not.toHaveProperty('token')
})

test('has the interface’s endpoints of projects and templates', () => {
  const project = { workflow_definition: 'string', paused_at: 'timestamp | null' }
  expectEndpoints({
    'PATCH /projects/{id}': { optional: ['workflow_definition', 'paused_at'], answer: project },
    'GET /projects/{id}/settings': { answer: { lifecycle_hooks: 'LifecycleHooks' } },
    'PATCH /projects/{id}/settings': {
      optional: ['lifecycle_hooks'],
      answer: { lifecycle_hooks: 'LifecycleHooks' },
    },
    'POST /workflow_templates/{name}/apply': { required: ['project_id'], answer: project },
  })
})

test('has the interface’s endpoints of tasks', () => {
  const linked = { external_issue_number: 'integer | null', external_issue_url: 'string | null' }
  expectEndpoints({
    'POST /projects/{project_id}/tasks': {
      required: ['title'],
      optional: ['description', 'review_config'],
      answer: { id: 'string', title: 'string' },
    },
    'GET /projects/{id}/tasks': { optional: ['include_archived'], answer: { items: 'Task[]' } },
    'GET /tasks/{id}': { answer: linked },
    'POST /tasks/{id}/claim': { optional: ['agent_id', 'overrides'] },
    'POST /tasks/{id}/transition': { required: ['status', 'version'], answer: { task: 'Task', review: 'Review' } },
    'POST /tasks/{id}/cancel': { answer: { task: 'Task' } },
    'POST /executions/{id}/stop': {},
    'POST /tasks/{id}/roles/{role}': { optional: ['agent_id', 'reset_worktree', 'reset_workspace'] },
    'POST /tasks/{id}/archive': {},
    'GET /tasks/{id}/transitions': { answer: { items: 'TransitionEntry[]' } },
    'POST /tasks/{id}/dependencies': { required: ['depends_on_id'] },
    'GET /tasks/{id}/dependencies': { answer: { items: 'Dependency[]' } },
    'GET /tasks/{id}/workspace': { answer: fieldsOf('Workspace') },
    'GET /tasks/{id}/diff': {},
    'POST /tasks/{id}/workspace/reset': {},
  })
  expect(endpoint('POST /tasks/{id}/claim')?.takes).toMatchObject({ overrides: 'object | null' })
})

test('has the interface’s endpoints of integrations, notifications and events', () => {
  const fields = ['poll_interval_secs', 'sync_filter', 'default_task_state']
  const optional = [...fields, 'default_assignee_type', 'default_assignee_id', 'enabled']
  const required = ['platform', 'base_url', 'owner', 'repo', 'token_secret_ref']
  const page = { items: 'Notification[]', has_more: 'boolean', next_cursor: 'string | null' }
  expectEndpoints({
    'POST /projects/{id}/integration': { required, optional, answer: fieldsOf('Integration') },
    'GET /projects/{id}/integration': { answer: fieldsOf('Integration') },
    'PATCH /projects/{id}/integration': { optional: [...required, ...optional], answer: fieldsOf('Integration') },
    'DELETE /projects/{id}/integration': {},
    'POST /projects/{id}/integration/sync': { answer: { imported: 'integer', skipped: 'integer', errors: 'integer' } },
    'GET /notifications': { optional: ['project_id', 'read', 'limit', 'cursor'], answer: page },
    'GET /notifications/unread-count': { optional: ['project_id'], answer: { count: 'integer' } },
    'POST /notifications/mark-all-read': { status: 204, optional: ['project_id'] },
    'PATCH /notifications/{id}/read': { answer: fieldsOf('Notification') },
    'DELETE /notifications/{id}': {},
    'GET /events': {},
  })
})

test('has the interface’s fields of people, projects and tasks', () => {
  expect(fieldsOf('User')).toMatchObject({
    id: 'string',
    email: 'string',
    display_name: 'string',
    is_admin: 'boolean',
    created_at: 'timestamp',
  })
  expect(Object.keys(fieldsOf('User')).filter((name) => /password|hash/.test(name))).toEqual([])
  expect(fieldsOf('Project')).toMatchObject({
    owner_id: 'string | null',
    paused_at: 'timestamp | null',
    workflow_definition: 'string',
    repos: 'Repo[]',
  })
  expect(fieldsOf('Repo')).toMatchObject({ is_primary: 'boolean' })
  expect(fieldsOf('ProjectSettings')).toMatchObject({
    lifecycle_hooks: 'LifecycleHooks',
    redaction_patterns: 'string[]',
    default_review_config: 'object',
  })
  expect(fieldsOf('Member')).toMatchObject({ project_id: 'string', user_id: 'string', role: 'owner | member' })
  expect(fieldsOf('Task')).toMatchObject({
    id: 'string',
    title: 'string',
    description: 'string | null',
    status: 'string',
    version: 'integer',
    roles: 'object',
    dependencies: 'string[]',
    review_passed_at: 'timestamp | null',
    archived: 'boolean',
    external_issue_number: 'integer | null',
    external_issue_url: 'string | null',
  })
  expect(fieldsOf('Task', 'review_config')).toEqual({ ci_steps: 'string[]', review_prompt: 'string | null' })
  expect(fieldsOf('Task', 'error_annotation')).toMatchObject({
    type: expect.stringContaining('workspace_reset_required') as string,
    hook: 'string',
    exit_code: 'integer | null',
    stderr_summary: 'string',
    recovery_actions: expect.stringContaining('retry_hook | skip_hook_once') as string,
  })
})

test('has the interface’s fields of reviews, audit, workspaces, notifications and integrations', () => {
  expect(fieldsOf('Review')).toMatchObject({ id: 'string', attempt_number: 'integer' })
  expect(fieldsOf('Review')['status']).toContain('passed')
  expect(fieldsOf('Review', 'step_results')).toMatchObject({ exit_code: 'integer | null' })
  expect(fieldsOf('TransitionEntry')).toMatchObject({
    from_state: 'string',
    to_state: 'string',
    triggered_by: 'string',
    rejection: 'boolean',
    trigger_reason: 'string | null',
  })
  expect(fieldsOf('Workspace')).toMatchObject({ branch: 'string', path: 'string' })
  expect(fieldsOf('Workspace')['status']).toContain('cleaned | error')
  expect(fieldsOf('Notification')).toMatchObject({
    event_type: expect.stringContaining(
      'task.done | task.blocked | review.passed | review.failed | merge.failed',
    ) as string,
    id: 'string',
    title: 'string',
    body: 'string | null',
    project_id: 'string',
    task_id: 'string',
    read: 'boolean',
    created_at: 'timestamp',
  })
  expect(fieldsOf('Integration')).toMatchObject({
    platform: 'hosted | selfhosted | gitlab',
    base_url: 'string',
    owner: 'string',
    repo: 'string',
    token_secret_ref: 'string',
    poll_interval_secs: 'integer',
    default_task_state: 'string | null',
    default_assignee_type: 'agent | user | null',
    default_assignee_id: 'string | null',
    enabled: 'boolean',
    last_polled_at: 'timestamp | null',
  })
  expect(fieldsOf('Integration', 'sync_filter')).toEqual({ labels: 'string[]' })
})

test('has the interface’s fields of a workflow definition and a hook', () => {
  expect(fieldsOf('WorkflowDefinition')).toMatchObject({ cancellation_state: 'string', initial_state: 'string' })
  expect(fieldsOf('WorkflowDefinition', 'roles')).toEqual({ name: 'string', label: 'string' })
  expect(fieldsOf('WorkflowDefinition', 'states')).toMatchObject({
    name: 'string',
    kind: 'backlog | initial | active | gate | terminal | custom',
    role: 'string',
    column: 'string',
    label: 'string',
    gate_config: 'object',
    hooks: 'object',
  })
  expect(fieldsOf('WorkflowDefinition', 'states', 'transitions')).toEqual({
    to: 'string',
    label: 'string',
    audience: 'all | agent_only | user_only',
  })
  expect(fieldsOf('WorkflowDefinition', 'states', 'gate_config')).toEqual({
    max_rejections: 'integer',
    reject_target: 'string',
    requires_human_approval: 'boolean',
  })
  expect(fieldsOf('LifecycleHook')).toMatchObject({
    command: 'string',
    timeout_seconds: 'integer',
    blocking: 'boolean',
    success_exit_codes: 'integer[]',
    name: 'string',
    enabled: 'boolean',
    applies_to: 'all | agent_only | user_only',
  })
  const kinds = variants(components.schemas['LifecycleHook'] ?? {}).map((one) => typesOf(one)['type'])
  expect(kinds).toEqual(['"script"', '"plugin"'])
})

test('has the interface’s payloads of events', () => {
  expect(fieldsOf('EventPayloads', 'notification.created')).toMatchObject({
    notification_id: 'string',
    project_id: 'string',
    task_id: 'string',
    title: 'string',
    event_type: fieldsOf('Notification')['event_type'],
  })
  expect(fieldsOf('EventPayloads', 'ExternalSyncCompleted')).toMatchObject({
    integration_id: 'string',
    imported_count: 'integer',
    skipped_count: 'integer',
  })
  expect(fieldsOf('EventPayloads', 'ExternalSyncFailed')).toMatchObject({ integration_id: 'string', message: 'string' })
  expect(fieldsOf('EventPayloads', 'workspace.cleaned')).toMatchObject({ task_id: 'string', workspace_id: 'string' })
  expect(fieldsOf('EventPayloads', 'transition.effect_failed')).toMatchObject({ action: 'string', reason: 'string' })
})

test('counts task.done and review.passed as good news, and all else as warning', () => {
  const good = notificationTypes.filter((type) => toneOf(type) === 'success')
  expect(good).toEqual(['task.done', 'review.passed'])
})

test('has the interface’s HTTP status for each code', () => {
  expect(errorStatus).toMatchObject({
    workflow_invalid: 400,
    admin_required: 403,
    agent_paused: 409,
    project_paused: 409,
    dependency_gate: 409,
    version_conflict: 409,
    integration_exists: 409,
    states_in_use: 409,
    transition_blocked: 412,
    integration_disabled: 422,
    PARENT_WORKSPACE_REQUIRED: 409,
  })
})
