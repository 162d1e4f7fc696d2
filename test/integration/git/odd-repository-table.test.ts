import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { refused } from '../../helpers/refusal.ts'
import { runApp, type RunningApp } from '../../helpers/running-app.ts'
import { rows, usual, work } from './odd-repository-rows.ts'
import { sweep } from '../../helpers/sweep.ts'

// Each repository goes through the same life, over the API of one app: project, claim, agent, diff, merge. Nothing of
// the user's may change before the merge, and after it only the files of the work.

/** Content and mode of every file of a checkout, and what of its git folder is the user's. */
function stateOf(checkout: string): ReadonlyMap<string, string> {
  const state = new Map<string, string>()
  const visit = (folder: string, shown: string): void => {
    for (const name of readdirSync(folder)) {
      const [file, key] = [join(folder, name), `${shown}${name}`]
      const entry = lstatSync(file)
      if (name === '.git' && shown === '') continue
      if (entry.isDirectory()) visit(file, `${key}/`)
      else state.set(key, `${entry.mode} ${entry.isSymbolicLink() ? readlinkSync(file) : hashOf(file)}`)
    }
  }
  visit(checkout, '')
  return state
}

const hashOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

/** The user's part of a git folder: configuration, hooks, HEAD; of `info/exclude` all but Copse's own line. */
function gitState(folder: string): Readonly<Record<string, string>> {
  const read = (name: string): string => {
    try {
      return readFileSync(join(folder, name), 'latin1')
    } catch {
      return ''
    }
  }
  const hooks = readdirSync(folder).includes('hooks') ? readdirSync(join(folder, 'hooks')) : []
  const names = ['config', 'config.worktree', 'HEAD', 'packed-refs', 'info/attributes', 'info/grafts', 'shallow']
  const files = [...names, 'info/sparse-checkout', 'objects/info/alternates', ...hooks.map((name) => `hooks/${name}`)]
  const exclude = read('info/exclude').replace(/\n?\/\.svc\.lock\n/, '\n')
  return { ...Object.fromEntries(files.map((name) => [name, read(name)])), exclude: exclude.trim() }
}

let app: RunningApp
beforeAll(async () => {
  app = await runApp()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
})

describe('a repository with', () => {
  test.concurrent.each(sweep(Object.entries(rows)))(
    '%s',
    async (name, row) => {
      await using repository = await createTestRepository()
      const prepared = (await row.prepare?.(repository)) ?? {}
      const { project = repository.path, checkout = repository.path, base, git_in = repository.path } = prepared
      const { client } = app
      const settings = { name, repo_path: project, ...(base !== undefined && { default_branch: base }) }
      if (row.refused !== undefined) {
        expect(await refused(client.call('projects.create', settings))).toMatchObject({ code: row.refused })
        return
      }
      const made = await client.call('projects.create', settings)
      if (row.settings) await client.call('projects.update_settings', { project_id: made.id, ...row.settings })
      const common = await repository.git(['rev-parse', '--path-format=absolute', '--git-common-dir'], { cwd: git_in })
      const readAll = async () => ({
        files: checkout === null ? new Map<string, string>() : stateOf(checkout),
        git: gitState(common),
        index: checkout === null ? '' : await repository.git(['ls-files', '--stage', '-v'], { cwd: checkout }),
      })
      const before = await readAll()
      const plain = { GIT_NO_REPLACE_OBJECTS: '1' }
      const tree = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', 'refs/heads/main']
      const filesOf = async () => (await repository.git(tree, { cwd: git_in, env: plain })).split('\0').filter(Boolean)
      const had = await filesOf()

      const config = { command: row.agent ?? work }
      const agent = await client.call('agents.create', { name, executor: 'command', config })
      const task = await client.call('tasks.create', { project_id: made.id, title: 'A task' })
      const claimed = await client.call('tasks.claim', { task_id: task.id, agent_id: agent.id })
      expect(claimed.workspace?.path).not.toBeNull()
      const reviewed = await app.taskWhere(task.id, (one) => one.status === 'review' && !one.entry_barrier)
      expect(reviewed.error_annotation).toBeNull()
      const [run] = (await client.call('tasks.executions', { task_id: task.id })).items
      expect(run).toMatchObject({ status: 'succeeded', exit_code: 0 })
      const diff = await client.call('tasks.diff', { task_id: task.id, scope: 'branch' })
      expect(diff.files.map(({ path }) => path).toSorted()).toEqual([...(row.diff ?? usual)].toSorted())
      expect(await readAll()).toEqual(before)

      const { merge = 'done' } = row
      const move = { task_id: task.id, status: 'merging', version: reviewed.version, tree: diff.tree ?? '' }
      if (['done', 'merge_failed'].includes(merge)) {
        const moved = (await client.call('tasks.transition', move)).task
        expect([moved.status, moved.error_annotation?.message]).toEqual([
          merge,
          merge === 'done' ? undefined : expect.any(String),
        ])
      } else expect(await refused(client.call('tasks.transition', move))).toMatchObject({ code: merge })
      const after = await readAll()
      expect(after.git).toEqual(before.git)
      const landed = merge === 'done' ? (row.diff ?? usual) : []
      expect(await filesOf()).toEqual([...new Set([...had, ...landed])].toSorted(byBytes))
      if (merge !== 'done') expect(after).toEqual(before)
      const changed = [...new Set([...before.files.keys(), ...after.files.keys()])].filter(
        (file) => before.files.get(file) !== after.files.get(file),
      )
      expect(landed).toEqual(expect.arrayContaining(changed))
    },
    240_000,
  )
})

const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))
