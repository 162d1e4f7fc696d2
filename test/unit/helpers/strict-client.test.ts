import { expect, test } from 'vitest'
import { operations } from '../../../src-shared/contract/operations.ts'
import { checkStrictly } from '../../helpers/strict-client.ts'

const id = '019a0000-0000-7000-8000-000000000001'
const at = '2026-11-21T09:30:00.000Z'
const repo = { id, name: 'r', path: '/r', default_branch: 'main', is_primary: true }
const project = {
  id,
  name: 'P',
  key: 'P',
  owner_id: null,
  paused_at: null,
  workflow_definition: '',
  imports_issues: false,
  created_at: at,
  updated_at: at,
}
const { output } = operations['projects.list']

test('accepts an answer whose keys are all described', () => {
  expect(() => checkStrictly('It', output, { items: [{ ...project, repos: [repo] }] })).not.toThrow()
})

test('refuses an unknown key at any depth', () => {
  const leak = { items: [{ ...project, repos: [{ ...repo, project_id: id }] }] }
  expect(() => checkStrictly('It', output, leak)).toThrow('project_id')
  expect(() => checkStrictly('It', output, { items: [{ ...project, settings: {}, repos: [] }] })).toThrow('settings')
  expect(() => checkStrictly('It', output, { items: [], more: 1 })).toThrow('more')
})
