import { ApiError } from '../../src-shared/contract/errors.ts'
import type { ContainmentStatus } from '../../src-shared/contract/containment.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { silentSeconds } from '../../src-shared/contract/jobs.ts'
import type { RunnerCheckStep } from '../../src-shared/contract/runners.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { RunnerKinds } from '../ports/runner-kinds.ts'
import { containmentStep } from './remote/probe.ts'
import type { CarriedJob } from './remote/start-job.ts'
import type { RunnerRecord } from '../ports/runner-queries.ts'

/** The runners that connect from their side, as far as they are heard. */
export interface DaemonContacts extends Pick<RunnerKinds, 'offers' | 'lose'> {
  check(runner: Pick<RunnerRecord, 'id' | 'name'>): readonly RunnerCheckStep[]
  /** Has a run queued again that its runner is not there to take. */
  carry(runner: Pick<RunnerRecord, 'id' | 'name'>, job: Omit<CarriedJob, 'ended'>): void
}

interface Contact {
  readonly at: number
  /** Its program is of another version. */
  readonly isOther: boolean
}

export function createDaemonContacts({
  jobs,
  containmentAt,
}: {
  readonly jobs: Pick<Jobs, 'next' | 'lose' | 'unreached'>
  readonly containmentAt: (runner_id: RunnerId) => ContainmentStatus | null
}): DaemonContacts {
  const contacts = new Map<RunnerId, Contact>()
  const note = (id: RunnerId, isOther: boolean) => contacts.set(id, { at: performance.now(), isOther })
  /** How long until the runner's silence counts, in milliseconds. */
  const patience = (id: RunnerId): number =>
    silentSeconds * 1_000 - (performance.now() - (contacts.get(id)?.at ?? Number.NEGATIVE_INFINITY))
  return {
    carry: ({ id: runner_id, name }, { id, kind, taken, isHeld }) => {
      if (kind !== 'run' || isHeld) return
      let timer: NodeJS.Timeout | undefined
      const look = (): void => {
        const left = patience(runner_id)
        if (left < 0) jobs.unreached(id, `${name} isn’t connected.`)
        else timer = setTimeout(look, left + 1).unref()
      }
      void taken.then(() => clearTimeout(timer))
      look()
    },
    offers: async (id, report, options) => {
      try {
        const offers = await jobs.next({ runner_id: id, job_id: null }, report, options)
        note(id, false)
        return offers
      } catch (error) {
        if (error instanceof ApiError && error.code === 'runner_version') note(id, true)
        throw error
      }
    },
    lose: (id, why) => {
      contacts.delete(id)
      jobs.lose(id, why)
    },
    check: ({ id, name }) => {
      const contact = contacts.get(id)
      if (contact === undefined || patience(id) < 0)
        return [
          {
            name: 'reach',
            ok: false,
            message: `${name} isn’t connected.`,
            fix: 'Start “svc runner --url … --token-file …” there.',
          },
        ]
      if (contact.isOther)
        return [{ name: 'version', ok: false, message: `${name} has another version.`, fix: 'Update Copse there.' }]
      const status = containmentAt(id)
      return [
        { name: 'reach', ok: true, message: `${name} is connected.`, fix: null },
        ...(status === null ? [] : [containmentStep(status)]),
      ]
    },
  }
}
