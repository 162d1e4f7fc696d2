import { expect, test } from 'vitest'
import {
  draftProblem,
  integrationDraft,
  integrationInput,
  integrationPatch,
  readRepositoryAddress,
  type IntegrationDraft,
} from '../../../../src-renderer/features/integrations/integration-draft.ts'
import { integrationOf } from './integration-fixture.ts'

const draft: IntegrationDraft = {
  ...integrationDraft(null),
  repository: ' acme/shop ',
  tokenName: 'GITHUB_TOKEN',
  labels: 'bug, , help wanted ',
}

test('sends a new integration as the fields say', () => {
  expect(integrationInput('p', { ...draft, assignee: 'agent:a1', state: 'todo', minutes: 2 })).toEqual({
    project_id: 'p',
    platform: 'hosted',
    base_url: 'https://api.github.com',
    owner: 'acme',
    repo: 'shop',
    token_secret_ref: 'GITHUB_TOKEN',
    poll_interval_secs: 120,
    sync_filter: { labels: ['bug', 'help wanted'] },
    default_task_state: 'todo',
    default_assignee_type: 'agent',
    default_assignee_id: 'a1',
  })
})

test('sends only changed fields', () => {
  const known = integrationOf({ sync_filter: { labels: ['bug'] }, default_task_state: 'todo' })
  const shown = integrationDraft(known)
  expect(integrationPatch(known, shown)).toBeNull()
  expect(integrationPatch(known, { ...shown, labels: '', state: '' })).toEqual({
    project_id: known.project_id,
    sync_filter: {},
    default_task_state: null,
  })
})

test('keeps an interval in seconds until the minutes are changed', () => {
  const known = integrationOf({ poll_interval_secs: 45 })
  expect(integrationPatch(known, { ...integrationDraft(known), labels: 'bug' })).toEqual({
    project_id: known.project_id,
    sync_filter: { labels: ['bug'] },
  })
})

test.each([
  ['https://github.com/acme/shop', 'hosted', 'https://api.github.com'],
  ['https://github.com/acme/shop.git', 'hosted', 'https://api.github.com'],
  ['git@github.com:acme/shop.git', 'hosted', 'https://api.github.com'],
  ['https://github.com/acme/shop/issues?q=is%3Aopen', 'hosted', 'https://api.github.com'],
  ['https://codeberg.org/acme/shop/', 'selfhosted', 'https://codeberg.org'],
  ['http://localhost:3000/acme/shop', 'selfhosted', 'http://localhost:3000'],
  ['https://github.example.com/acme/shop', 'hosted', 'https://github.example.com'],
  ['https://gitlab.com/acme/shop/-/issues/3', 'gitlab', 'https://gitlab.com'],
  ['git@gitlab.example.com:acme/shop.git', 'gitlab', 'https://gitlab.example.com'],
])('fills in the other fields from %s', (address, platform, baseUrl) => {
  expect(readRepositoryAddress(address)).toEqual({ platform, baseUrl, repository: 'acme/shop' })
})

test.each(['acme/shop', 'https://github.com/acme', 'shop', ''])('fills in nothing from %s', (address) => {
  expect(readRepositoryAddress(address)).toBeNull()
})

test.each<[Partial<IntegrationDraft>, string | null]>([
  [{}, null],
  [{ repository: 'shop' }, 'Say which repository, as owner/name'],
  [{ repository: 'https://github.com/acme/shop' }, 'Say which repository, as owner/name'],
  [{ baseUrl: ' ' }, 'Say where its API is'],
  [{ tokenName: 'ghp_123' }, 'Name the variable that holds the token'],
  [{ minutes: 0 }, 'Say how often it is read'],
  [{ minutes: Number.NaN }, 'Say how often it is read'],
])('shows for %j: %s', (change, problem) => {
  expect(draftProblem({ ...draft, ...change })).toBe(problem)
})

test('takes a repository of GitLab in a group of a group', () => {
  const read = readRepositoryAddress('https://gitlab.com/acme/web/shop/-/merge_requests/4')
  expect(read).toEqual({ platform: 'gitlab', baseUrl: 'https://gitlab.com', repository: 'acme/web/shop' })
  const nested = { ...draft, ...read, tokenName: 'GITLAB_TOKEN' }
  expect(draftProblem(nested)).toBeNull()
  expect(integrationInput('p', nested)).toMatchObject({ owner: 'acme/web', repo: 'shop' })
  expect(draftProblem({ ...nested, platform: 'hosted' })).toMatch(/owner\/name/)
  expect(draftProblem({ ...nested, repository: 'acme//shop' })).toMatch(/group\/name/)
})
