import type { EventPayload } from '../../src-shared/contract/events.ts'
import type { Job } from './job.ts'

/** All events about a project's knowledge, up to a new task that marks the end. */
export async function knowledgeNews(job: Job): Promise<Omit<EventPayload<'knowledge.updated'>, 'occurred_at'>[]> {
  const end = await job.task({ title: 'The end of the news' })
  const news: Omit<EventPayload<'knowledge.updated'>, 'occurred_at'>[] = []
  for await (const item of job.running.client.events({}, 0, AbortSignal.timeout(30_000))) {
    if (item.kind !== 'event') continue
    const { type, data } = item.event
    if (type === 'task.created' && data.task_id === end.id) return news
    if (type !== 'knowledge.updated') continue
    const { occurred_at: _, ...told } = data
    news.push(told)
  }
  throw new Error('The events ended before the news did.')
}
