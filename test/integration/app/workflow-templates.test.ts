import { WorkflowDefinition } from '../../../src-shared/contract/workflow-definition.ts'
import { withTraits } from '../../helpers/with-traits.ts'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startJob, type Job } from '../../helpers/job.ts'
import { refused } from '../../helpers/refusal.ts'
import { addMember, register } from '../../helpers/membership.ts'
import { workflowOf } from './workflow-edits.ts'

const fileOf = (job: Job, name: string) => join(job.running.dataDir, 'workflows', `${name}.yaml`)
const small = {
  states: [
    { name: 'open', kind: 'initial', column: 'Open', label: 'Open', transitions: [{ to: 'shut', label: 'Shut' }] },
    { name: 'shut', kind: 'terminal', column: 'Shut', label: 'Shut' },
  ],
}
const filled = {
  roles: [],
  states: small.states.map((state) => ({
    transitions: [],
    ...state,
    ...(state.transitions && { transitions: state.transitions.map((one) => ({ ...one, audience: 'all' })) }),
  })),
}

test('has the four shipped templates from the start, and default for new projects', async () => {
  await using job = await startJob()
  const { items } = await job.running.client.call('templates.list', {})
  expect(items.map(({ name, builtin, error }) => [name, builtin, error])).toEqual([
    ['default', true, null],
    ['no-user-approval', true, null],
    ['pull-request', true, null],
    ['user-approval-review', true, null],
  ])
  // A project's workflow also says what happens to the worktrees of cancelled tasks.
  const cleanup = { policy: 'delayed', seconds: 86_400 }
  const definition = WorkflowDefinition.parse(items[0]?.definition)
  const states = definition.states.map((one) => (one.name === 'cancelled' ? { ...one, cleanup } : one))
  expect(await workflowOf(job)).toEqual(withTraits(WorkflowDefinition.parse({ ...definition, states })))
  expect(items.every((item) => item.description !== '')).toBe(true)
})

test('saves, finds, applies and deletes a template', async () => {
  await using job = await startJob()
  const { client } = job.running
  const put = await client.call('templates.put', { name: 'small', description: 'Two states', definition: small })
  const template = { name: 'small', description: 'Two states', builtin: false, definition: filled, error: null }
  expect(put).toEqual({ ...template, warnings: [] })
  expect(await client.call('templates.get', { name: 'small' })).toEqual(template)
  const applied = await client.call('templates.apply', { name: 'small', project_id: job.project.id })
  expect(JSON.parse(applied.workflow_definition)).toEqual(filled)
  expect((await job.task()).status).toBe('open')
  // A later edit does not reach the project.
  const states = [{ ...small.states[0], name: 'begin', transitions: small.states[0]?.transitions }, small.states[1]]
  await client.call('templates.put', { name: 'small', definition: { states } })
  expect((await client.call('templates.get', { name: 'small' })).description).toBe('')
  expect(await workflowOf(job)).toEqual(withTraits(WorkflowDefinition.parse(filled)))
  const longest = `0_-${'n'.repeat(61)}`
  expect((await client.call('templates.put', { name: longest, definition: small })).name).toBe(longest)
  await client.call('templates.delete', { name: 'small' })
  expect((await client.call('templates.list', {})).items.map(({ name }) => name)).not.toContain('small')
  expect(await workflowOf(job)).toEqual(withTraits(WorkflowDefinition.parse(filled)))
})

test('answers not_found for a missing template in every operation', async () => {
  await using job = await startJob()
  const { client } = job.running
  const name = 'nothing'
  const calls = [
    client.call('templates.get', { name }),
    client.call('templates.delete', { name }),
    client.call('templates.apply', { name, project_id: job.project.id }),
    client.call('projects.create', { name: 'P', repo_path: job.repository.path, workflow_template: name }),
  ]
  for (const error of await Promise.all(calls.map(refused))) {
    expect([error.status, error.code, error.details]).toEqual([404, 'not_found', { resource: 'workflow_template' }])
  }
  expect((await client.call('projects.list', {})).items).toHaveLength(1)
})

test.each(['../etc', 'Default', '', '-a', 'a.b', 'n'.repeat(65)])('refuses %j as name of a template', async (name) => {
  await using job = await startJob()
  const error = await refused(job.running.client.call('templates.put', { name, definition: small }))
  // An empty name is no address.
  expect(['validation_failed', 'not_found']).toContain(error.code)
})

test('does not save an invalid definition', async () => {
  await using job = await startJob()
  const { client } = job.running
  const definition = { states: [small.states[0]] }
  const error = await refused(client.call('templates.put', { name: 'bad', definition }))
  expect([error.status, error.code, error.details?.['rule']]).toEqual([
    400,
    'workflow_invalid',
    'transition_target_missing',
  ])
  expect((await refused(client.call('templates.get', { name: 'bad' }))).code).toBe('not_found')
})

test('protects default from deletion, allows edits, and restores a missing file at the start', async () => {
  await using job = await startJob()
  const { client } = job.running
  const error = await refused(client.call('templates.delete', { name: 'default' }))
  expect([error.status, error.code]).toEqual([409, 'template_protected'])
  const shipped = await client.call('templates.get', { name: 'default' })
  const standard = await workflowOf(job)
  await client.call('templates.put', { name: 'default', definition: small })
  // An empty name means the shipped default, whatever the file says; naming the template means the file.
  expect(await workflowOf(job)).toEqual(standard)
  const named = await client.call('projects.create', {
    name: 'Named',
    repo_path: job.repository.path,
    workflow_template: 'default',
  })
  expect(JSON.parse(named.workflow_definition)).toEqual(filled)
  expect(await client.call('templates.get', { name: 'default' })).toMatchObject({ builtin: true, definition: filled })
  job.running = await job.running.restart()
  expect((await job.running.client.call('templates.get', { name: 'default' })).definition).toEqual(filled)
  await rm(fileOf(job, 'default'))
  await rm(fileOf(job, 'no-user-approval'))
  expect((await refused(job.running.client.call('templates.get', { name: 'default' }))).code).toBe('not_found')
  job.running = await job.running.restart()
  expect(await job.running.client.call('templates.get', { name: 'default' })).toEqual(shipped)
  expect((await job.running.client.call('templates.list', {})).items.map(({ name }) => name)).toEqual([
    'default',
    'pull-request',
    'user-approval-review',
  ])
})

test('reads a person’s file at once, and lists a broken one with its error', async () => {
  await using job = await startJob()
  const { client } = job.running
  await writeFile(
    fileOf(job, 'mine'),
    `description: Mine
states:
  - { name: open, kind: initial, column: Open, label: Open, transitions: [{ to: shut, label: Shut }] }
  - { name: shut, kind: terminal, column: Shut, label: Shut }
`,
  )
  expect(await client.call('templates.get', { name: 'mine' })).toEqual({
    name: 'mine',
    description: 'Mine',
    builtin: false,
    definition: filled,
    error: null,
  })
  const text = await readFile(fileOf(job, 'mine'), 'utf8')
  for (const [broken, rule] of [
    [text.replace('states:', 'states: ['), 'schema'],
    [text.replace('kind: initial', 'kind: magic'), 'schema'],
    [text.replace('kind: initial', 'kind: custom'), 'single_initial'],
    [text.replace('column: Shut', 'hooks: { on_enter: [{ plugin: magic }] }, column: Shut'), 'unknown_plugin'],
    [`${text}#${'x'.repeat(1_000_000)}`, 'schema'],
  ] as const) {
    await writeFile(fileOf(job, 'mine'), broken)
    const listed = (await client.call('templates.list', {})).items.find(({ name }) => name === 'mine')
    expect([listed?.definition, typeof listed?.error]).toEqual([null, 'string'])
    const calls = [
      client.call('templates.apply', { name: 'mine', project_id: job.project.id }),
      client.call('projects.create', { name: 'P', repo_path: job.repository.path, workflow_template: 'mine' }),
    ]
    for (const error of await Promise.all(calls.map(refused))) {
      expect([error.status, error.code, error.details?.['rule']]).toEqual([400, 'workflow_invalid', rule])
      expect(error.message).toContain(listed?.error?.slice(0, 40))
    }
  }
  expect((await client.call('projects.list', {})).items).toHaveLength(1)
})

test('does not apply a template that lacks a state with tasks', async () => {
  await using job = await startJob()
  const { client } = job.running
  await client.call('templates.put', { name: 'small', definition: small })
  const task = await job.task()
  const error = await refused(client.call('templates.apply', { name: 'small', project_id: job.project.id }))
  expect([error.code, error.details]).toEqual(['states_in_use', { states: ['backlog'], tasks: [task.id] }])
  expect((await client.call('projects.get', { project_id: job.project.id })).workflow_definition).toBe('')
})

test('ignores renames in a template', async () => {
  await using job = await startJob()
  const [open, shut] = small.states
  const definition = { states: [{ ...open, renamed_from: 'backlog' }, shut] }
  const put = await job.running.client.call('templates.put', { name: 'small', definition })
  expect(put.definition).toEqual(filled)
})

test('lets everyone read templates, admins write them, and owners apply them', async () => {
  await using job = await startJob()
  const { running, project } = job
  const { client: other, user_id } = await register(running, 'Member')
  await addMember(running, project.id, user_id, 'member')
  expect((await other.call('templates.list', {})).items).toHaveLength(4)
  const codes = [
    other.call('templates.put', { name: 'small', definition: small }),
    other.call('templates.delete', { name: 'no-user-approval' }),
    other.call('templates.apply', { name: 'no-user-approval', project_id: project.id }),
  ].map(async (call) => (await refused(call)).code)
  expect(await Promise.all(codes)).toEqual(['admin_required', 'admin_required', 'owner_required'])
})
