import { expect, test } from 'vitest'
import type { Client } from '../../../src-shared/client/create-client.ts'
import type { EventEnvelope } from '../../../src-shared/contract/events.ts'
import { startIntegrationJob } from '../../helpers/integration-job.ts'

type Told = Pick<EventEnvelope, 'type' | 'data'>

/** A client's events of these types, up to the creation of the task `marker`. */
async function heard(client: Client, types: readonly EventEnvelope['type'][], marker: string): Promise<Told[]> {
  const told: Told[] = []
  for await (const item of client.events({}, 0, AbortSignal.timeout(60_000))) {
    if (item.kind !== 'event') continue
    const { type, data } = item.event
    if (type === 'task.created' && data.task_id === marker) return told
    if (types.includes(type)) told.push({ type, data })
  }
  throw new Error('The events ended.')
}

test('sends comments, knowledge and integrations as they are now, and their deletion', async () => {
  await using at = await startIntegrationJob()
  const { job, tracker } = at
  const { client } = job.running
  const project_id = job.project.id
  const { id: task_id } = await job.task()

  const comment = await client.call('comments.create', { task_id, body: 'Why?' })
  const edited = await client.call('comments.update', { comment_id: comment.id, body: 'Why not?' })
  await client.call('comments.delete', { comment_id: comment.id })

  const entry = await client.call('knowledge.create', { project_id, title: 'Tests', body: 'Run npm test.' })
  await client.call('knowledge.delete', { knowledge_id: entry.id })

  tracker.repositories.set('octo/hello', [{ number: 1, title: 'It breaks' }])
  const { id: integration_id } = await at.integrate()
  await at.sync()

  const marker = await job.task({ title: 'Marker' })
  const types = ['comment.created', 'comment.updated', 'comment.deleted', 'knowledge.updated'] as const
  const told = await heard(client, [...types, 'ExternalSyncCompleted'], marker.id)
  const base = { project_id, occurred_at: expect.any(String) as string }
  expect(told).toEqual([
    { type: 'comment.created', data: { ...base, task_id, comment } },
    { type: 'comment.updated', data: { ...base, task_id, comment: edited } },
    { type: 'comment.deleted', data: { ...base, task_id, comment_id: comment.id } },
    { type: 'knowledge.updated', data: { ...base, knowledge_id: entry.id, entry } },
    { type: 'knowledge.updated', data: { ...base, knowledge_id: entry.id, entry: null } },
    {
      type: 'ExternalSyncCompleted',
      data: { ...base, integration_id, imported_count: 1, skipped_count: 0, error_count: 0 },
    },
  ])
})
