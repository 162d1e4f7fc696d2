import type { Queue } from '../../src-shared/contract/queue.ts'
import type { CommandContext } from './command-context.ts'

/** An execution that has not started, and why. */
export type QueuePosition = Queue['waiting'][number]

/** Returns the lasting waits of a project; executions that are about to start count as running. */
export async function queuePositions(
  { client }: CommandContext,
  project_id: string,
): Promise<readonly QueuePosition[]> {
  const { waiting } = await client.call('projects.queue', { project_id })
  return waiting.filter(({ reason }) => reason !== 'entering' && reason !== 'starting')
}

/** Describes in two or three words why an execution waits. */
export function formatQueuePosition({ reason, position }: QueuePosition): string {
  return `${reason.replaceAll('_', ' ')}${position === null ? '' : `, number ${position}`}`
}
