import type { Queue } from '../../src-shared/contract/queue.ts'
import type { CommandContext } from './command-context.ts'

/** An execution that has not begun, and why. */
export type QueuePosition = Queue['waiting'][number]

/** What waits in a project for something that lasts: what is on its way already counts as at work. */
export async function queuePositions(
  { client }: CommandContext,
  project_id: string,
): Promise<readonly QueuePosition[]> {
  const { waiting } = await client.call('projects.queue', { project_id })
  return waiting.filter(({ reason }) => reason !== 'entering' && reason !== 'starting')
}

/** Why it waits, in two or three words. */
export function formatQueuePosition({ reason, position }: QueuePosition): string {
  return `${reason.replaceAll('_', ' ')}${position === null ? '' : `, number ${position}`}`
}
