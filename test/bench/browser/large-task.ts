import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Task } from '../../../src-shared/contract/tasks.ts'
import type { BoardScene } from './board-scene.ts'
import { present } from '../../helpers/present.ts'

/** Threads stand on the first so many lines. */
const threadedLines = 2_000

interface LargeDiff {
  readonly perFile?: number
  readonly perThread?: number | null
  /** Every line was another one before. */
  readonly changed?: boolean
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** A task in whose worktree so many lines are new, in files of `perFile`, with a thread on every `perThread`th line. */
export async function makeLargeDiff(
  { product, project, repository }: BoardScene,
  lines: number,
  { perFile = 250, perThread = null, changed = false }: LargeDiff = {},
): Promise<Task> {
  const { client } = product
  const files = Array.from({ length: Math.ceil(lines / perFile) }, (_, file) => file)
  const nameOf = (file: number) => `src/part-${file % 20}/file-${file}.ts`
  const textOf = (file: number, word: string) =>
    Array.from({ length: perFile }, (_, line) => `export const v${line} = ${word}(${file}, 'line ${line}')\n`).join('')
  if (changed) {
    for (const file of files) await write(join(repository.path, nameOf(file)), textOf(file, 'before'))
    await repository.git(['add', '-A'])
    await repository.git(['commit', '-qm', 'Before'])
  }
  const task = await client.call('tasks.create', { project_id: project.id, title: 'Write much' })
  const { workspace } = await client.call('tasks.claim', { task_id: task.id })
  if (!workspace) throw new Error('The task has no worktree.')
  for (const file of files) {
    const name = nameOf(file)
    await write(join(workspace.path, name), textOf(file, 'compute'))
    // Where the scrolling goes: over the files of the first folder.
    const threaded = file % 20 === 0 ? Math.max(0, threadedLines - (file / 20) * perFile) : 0
    for (let line = perThread ?? Infinity; line <= Math.min(perFile, threaded); line += perThread ?? 1) {
      const anchor = { path: name, side: 'new' as const, line }
      await client.call('comments.create', { task_id: task.id, body: `What about line ${line}?`, anchor })
    }
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
    const { finished_at } = await client.call('executions.get', { execution_id: present(execution).id })
    if (finished_at !== null) break
  }
  stop.abort()
  return task
}
