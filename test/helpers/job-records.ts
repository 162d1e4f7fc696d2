import type { JobQueries, JobRecord } from '../../src-main/ports/job-queries.ts'

/** Keeps jobs as the database does: as text. */
export function memoryRecords(): JobQueries {
  const rows = new Map<string, string>()
  const all = (): JobRecord[] => [...rows.values()].map((text) => JSON.parse(text) as JobRecord)
  return {
    get: (id) => {
      const text = rows.get(id)
      return text === undefined ? null : (JSON.parse(text) as JobRecord)
    },
    accepted: () => all().filter(({ state }) => state === 'accepted'),
    put: (record) => void rows.set(record.id, JSON.stringify(record)),
    deleteOver: (before) => {
      for (const { id, over_at } of all()) if (over_at !== null && over_at < before) rows.delete(id)
    },
  }
}
