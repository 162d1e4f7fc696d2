import { expect, test } from 'vitest'
import { emptyDraft, taskInput } from '../../../../src-renderer/features/new-task/task-draft.ts'
import {
  assigneesOf,
  fillDraft,
  readTemplate,
  templateFields,
  type TemplateDraft,
} from '../../../../src-renderer/features/new-task/template-draft.ts'
import { UserId } from '../../../../src-shared/contract/ids.ts'
import type { TaskTemplate } from '../../../../src-shared/contract/task-templates.ts'

const coder = { type: 'agent', id: '01990005-0000-7000-8000-000000000001' } as const
const judge = { type: 'agent', id: '01990005-0000-7000-8000-000000000002' } as const
const person = { type: 'user', id: UserId.parse('01990005-0000-7000-8000-000000000003') } as const

const template = (more: object = {}) =>
  ({
    title: 'Fix: ',
    description: 'What happens?',
    priority: 3,
    labels: ['bug'],
    review_config: { ci_steps: ['npm test', 'npm run lint'] },
    roles: { coder, reviewer: judge },
    repo_id: null,
    ...more,
  }) as unknown as TaskTemplate
const read = (more: object = {}) => readTemplate(template(more), 'coder')
const draft = (more: Partial<TemplateDraft> = {}): TemplateDraft => ({ ...emptyDraft(null), ...more })

test('converts a template to a draft and back', () => {
  const { title, description, priority, labels, review_config, roles, repo_id } = template()
  expect(templateFields(read(), 'coder')).toEqual({
    title,
    description,
    priority,
    labels,
    review_config,
    roles,
    repo_id,
  })
  expect(read()).toMatchObject({ steps: 'npm test\nnpm run lint', agentId: coder.id, roles: { reviewer: judge } })
  // A person with the working role is no agent, so it is kept.
  expect(read({ roles: { coder: person } })).toMatchObject({ agentId: null, roles: { coder: person } })
  expect(assigneesOf(draft({ agentId: coder.id, roles: { coder: person } }), 'coder')).toEqual({ coder })
})

test('distinguishes no checks from the project’s checks', () => {
  const none = { ...emptyDraft(null), ...read({ title: 'T', review_config: { ci_steps: [] } }) }
  expect(taskInput('p', none).review_config).toEqual({ ci_steps: [] })
  expect(templateFields(none, 'coder').review_config).toEqual({ ci_steps: [] })
  const open = { ...emptyDraft(null), ...read({ title: 'T', review_config: { review_prompt: 'Is it quick?' } }) }
  expect(taskInput('p', open).review_config).toEqual({ review_prompt: 'Is it quick?' })
  expect(taskInput('p', { ...emptyDraft(null), title: 'T' })).not.toHaveProperty('review_config')
})

test('fills only empty fields, and nothing that the person has chosen', () => {
  expect(fillDraft(draft(), read())).toMatchObject(read())
  const typed = draft({ title: 'The menu is cut off', priority: 1, roles: { reviewer: person } })
  expect(fillDraft(typed, read())).toMatchObject({
    title: 'The menu is cut off',
    description: 'What happens?',
    priority: 1,
    labels: ['bug'],
    agentId: coder.id,
    roles: { reviewer: person },
  })
  const own = fillDraft(draft({ steps: 'make check' }), read({ review_config: { ci_steps: [] } }))
  expect(own).toMatchObject({ steps: 'make check', withoutChecks: false })
})

test('replaces what the earlier template filled, and “none” removes it', () => {
  const bug = read()
  const chore = read({ title: 'Update ', description: null, priority: 0, labels: ['chore'], roles: {} })
  const filled = { ...fillDraft(draft(), bug), description: 'What happens? It hangs.' }
  const changed = fillDraft(filled, chore, bug)
  expect(changed).toMatchObject({ title: 'Update ', description: 'What happens? It hangs.', labels: ['chore'] })
  expect(changed).toMatchObject({ priority: 0, agentId: null, roles: {} })
  expect(fillDraft(changed, null, chore)).toEqual(draft({ description: 'What happens? It hangs.' }))
})
