import { ApiError } from '../../src-shared/contract/errors.ts'
import type { RunnerId } from '../../src-shared/contract/ids.ts'
import { silentSeconds } from '../../src-shared/contract/jobs.ts'
import type { RunnerCheckStep } from '../../src-shared/contract/runners.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { RunnerKinds } from '../ports/runner-kinds.ts'
import type { RunnerRecord } from '../ports/runner-queries.ts'

/** The runners that connect from their side, as far as they are heard. */
export interface DaemonContacts extends Pick<RunnerKinds, 'offers' | 'lose'> {
  check(runner: Pick<RunnerRecord, 'id' | 'name'>): readonly RunnerCheckStep[]
}

interface Contact {
  readonly at: number
  /** Its program is of another version. */
  readonly isOther: boolean
}

export function createDaemonContacts(jobs: Pick<Jobs, 'next' | 'lose'>): DaemonContacts {
  const contacts = new Map<RunnerId, Contact>()
  const note = (id: RunnerId, isOther: boolean) => contacts.set(id, { at: performance.now(), isOther })
  return {
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
      if (contact === undefined || performance.now() - contact.at > silentSeconds * 1_000)
        return [
          {
            name: 'reach',
            ok: false,
            message: `${name} isn’t connected.`,
            fix: 'Start “svc runner --url … --token-file …” there.',
          },
        ]
      return contact.isOther
        ? [{ name: 'version', ok: false, message: `${name} has another version.`, fix: 'Update Copse there.' }]
        : [{ name: 'reach', ok: true, message: `${name} is connected.`, fix: null }]
    },
  }
}
