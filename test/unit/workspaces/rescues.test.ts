import { expect, test } from 'vitest'
import { createRescues } from '../../../src-main/workspaces/rescues.ts'
import { WorkspaceError } from '../../../src-main/ports/workspace-error.ts'
import type { ProjectId } from '../../../src-shared/contract/ids.ts'
import type { Rescue } from '../../../src-shared/contract/rescues.ts'

const project_id = 'project' as ProjectId
const signal = new AbortController().signal

function rescuesOf(repos: Readonly<Record<string, readonly string[] | 'gone'>>) {
  const context = {
    store: {
      read: {
        repos: { byProject: () => Object.keys(repos).map((path) => ({ path })) },
        tasks: { get: () => null },
      },
    },
    rescues: {
      rescues: (path: string): Promise<Partial<Rescue>[]> => {
        const days = repos[path]
        if (days === undefined || days === 'gone') return Promise.reject(new WorkspaceError('git_failed', `no ${path}`))
        return Promise.resolve(days.map((created_at) => ({ task_id: 'deleted', created_at, repo_path: path })))
      },
    },
    log: { warn: () => undefined },
  }
  return createRescues(context as unknown as Parameters<typeof createRescues>[0], {
    exclusively: (_task, work) => work(),
  })
}

test('lists rescues of all repositories, newest first, even if one is gone', async () => {
  const rescues = rescuesOf({ one: ['2026-11-20', '2026-11-22'], gone: 'gone', two: ['2026-11-21'] })
  const found = await rescues.ofProject(project_id, signal)
  expect(found.map((one) => [one.created_at, one.repo_path])).toEqual([
    ['2026-11-22', 'one'],
    ['2026-11-21', 'two'],
    ['2026-11-20', 'one'],
  ])
})

test('says why no repository answers, and lists none without a repository', async () => {
  await expect(rescuesOf({ gone: 'gone' }).ofProject(project_id, signal)).rejects.toMatchObject({ message: 'no gone' })
  expect(await rescuesOf({}).ofProject(project_id, signal)).toEqual([])
})
