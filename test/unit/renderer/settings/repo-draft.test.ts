import { describe, expect, test } from 'vitest'
import { emptyDraft, taskInput } from '../../../../src-renderer/features/new-task/task-draft.ts'
import {
  fixLabel,
  repoDraft,
  repoInput,
  repoPatch,
} from '../../../../src-renderer/features/settings/project/repo-draft.ts'
import { repoRefusal } from '../../../../src-renderer/features/task/repo-refusal.ts'
import { portsFrom } from '../../../../src-main/workspaces/rules/port-ranges.ts'
import { formatPorts } from '../../../../src-renderer/formatters/format-ports.ts'
import { RepoId } from '../../../../src-shared/contract/ids.ts'
import { repoProblems, type Repo } from '../../../../src-shared/contract/projects.ts'
import { taskOf } from '../task-fixture.ts'

const other = '01990002-0000-7000-8000-000000000002'
const repo: Repo = {
  id: RepoId.parse(other),
  name: 'api',
  path: '/code/api',
  default_branch: 'main',
  is_primary: true,
}

describe('a repository that is added', () => {
  test('is sent without empty fields', () => {
    expect(repoInput('p', { path: ' /code/api ', name: ' ', branch: '' })).toEqual({
      project_id: 'p',
      path: '/code/api',
    })
    expect(repoInput('p', { path: '/code/api', name: 'API ', branch: 'next' })).toEqual({
      project_id: 'p',
      path: '/code/api',
      name: 'API',
      default_branch: 'next',
    })
  })
})

describe('a repository that is changed', () => {
  test('is sent with changed fields only', () => {
    expect(repoPatch(repo, repoDraft(repo))).toBeNull()
    expect(repoPatch(repo, { ...repoDraft(repo), path: '/moved/api ' })).toEqual({ path: '/moved/api' })
    expect(repoPatch(repo, { path: '', name: 'API', branch: 'next' })).toEqual({ name: 'API', default_branch: 'next' })
  })
  test('offers a fix for every problem that a field can help with', () => {
    expect(repoProblems.map(fixLabel)).toEqual(['Update path…', null, 'Choose a branch…'])
  })
})

describe('the repository of a task', () => {
  test('is sent if one is chosen, else the service takes the primary one', () => {
    const draft = { ...emptyDraft(null), title: 'Fix it' }
    expect(taskInput('p', draft)).not.toHaveProperty('repo_id')
    expect(taskInput('p', { ...draft, repoId: other })).toMatchObject({ repo_id: other })
  })
  test('is fixed once there is a worktree, and is the parent’s for an ordered subtask', () => {
    expect(repoRefusal(taskOf(1), other)).toBeNull()
    expect(repoRefusal(taskOf(1, { port_base: 20_000 }), other)).toBe('It has a worktree already')
    expect(repoRefusal(taskOf(1, { subtask_mode: 'ordered' }), other)).toBe('It works in its parent’s worktree')
    expect(repoRefusal(taskOf(1, { port_base: 20_000, repo_id: repo.id }), other)).toBeNull()
  })
})

test('names the ports of a worktree from first to last', () => {
  expect(formatPorts(20_010)).toBe(`20010 to ${portsFrom(20_010).at(-1)}`)
})
