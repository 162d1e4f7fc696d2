import { expect } from 'vitest'
import type { Client } from '../../src-shared/client/create-client.ts'
import type { Chapters } from '../../src-shared/contract/chapters.ts'
import { startJob } from './job.ts'
import type { RunOptions } from './running-app.ts'

/** A task with a worktree and without a running agent. */
export async function worked(files: Readonly<Record<string, string>>, options: RunOptions = {}) {
  const job = await startJob({ ...options, files })
  const task = await job.task()
  const { client } = job.running
  const { workspace } = await client.call('tasks.claim', { task_id: task.id })
  return { job, client, task_id: task.id, path: workspace?.path ?? '' }
}

/** Returns the chapters by the rules, once they are ready. */
export async function told(client: Client, task_id: string): Promise<Chapters> {
  const stop = new AbortController()
  const events = client.events({}, 0, stop.signal)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const answer = await client.call('tasks.chapters', { task_id })
      if (!answer.pending) return answer
      expect(answer).toMatchObject({ source: 'files', risks: [] })
      for (let item = await events.next(); item.done !== true; item = await events.next())
        if (item.value.kind === 'event' && item.value.event.type === 'chapters.updated') break
    }
  } finally {
    stop.abort()
  }
}
