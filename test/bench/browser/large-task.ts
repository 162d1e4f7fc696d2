import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { BoardScene } from './board-scene.ts'

/** A task in whose worktree so many lines are new, in files of 250. */
export async function makeLargeDiff({ product, project }: BoardScene, lines: number): Promise<Task> {
  const { client } = product
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Write much' })
  const { workspace } = await client.call('tasks.claim', { task_id: task.id })
  if (!workspace) throw new Error('The task has no worktree.')
  for (let file = 0; file < lines / 250; file += 1) {
    const path = join(workspace.path, `src/part-${file % 20}/file-${file}.ts`)
    await mkdir(dirname(path), { recursive: true })
    const text = Array.from({ length: 250 }, (_, line) => `export const v${line} = compute(${file}, 'line ${line}')\n`)
    await writeFile(path, text.join(''))
  }
  return task
}

const agent = `'${process.execPath}' '${new URL('../agents/entries.ts', import.meta.url).pathname}'`

/** A task whose agent has said so many things and has ended. */
export async function makeLongTranscript(scene: BoardScene, entries: number): Promise<Task> {
  const { product, project, repository } = scene
  const { client } = product
  const command = join(repository.beside, 'claude')
  await writeFile(command, `#!/bin/sh\nexec ${agent} ${entries}\n`, { mode: 0o755 })
  const { id: agent_id } = await client.call('agents.create', {
    name: 'Loud',
    executor: 'claude-code',
    config: { command },
  })
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Say much' })
  const stop = new AbortController()
  const events = client.events({}, null, stop.signal)
  const { execution } = await client.call('tasks.claim', { task_id: task.id, agent_id })
  for await (const _ of events) {
    const { finished_at } = await client.call('executions.get', { execution_id: execution.id })
    if (finished_at !== null) break
  }
  stop.abort()
  return task
}
