import type { Arrived, Arrivals } from '../../ports/arrivals.ts'
import type { Cancellable } from '../../ports/cancellable.ts'

/** Keeps as rescues what jobs that had been lost have brought, and their folders have no more. */
export async function rescueLate(
  arrivals: Pick<Arrivals, 'rescue'>,
  task_id: string,
  { branch, snapshot, others, late, replaced }: Arrived,
  { signal }: Cancellable,
): Promise<void> {
  const known = new Set([branch, snapshot, ...replaced])
  const left = others.filter(({ name }) => name.startsWith('left/'))
  for (const { name, commit } of [...left, ...late]) {
    if (known.has(commit)) continue
    known.add(commit)
    const kind = name.endsWith('snapshot') ? 'uncommitted' : 'commits'
    await arrivals.rescue(task_id, { commit, kind, reason: 'left' }, { signal })
  }
}
