import type { Queries } from '../ports/store.ts'
import type { Database } from './database-type.ts'
import { prepareGet, prepareUpsert } from './prepared-statements.ts'
import { chapterProposals } from './schema/chapters.ts'

/** Creates the queries of chapters that people and agents proposed. */
export function createChapterProposalQueries(db: Database): Queries['chapter_proposals'] {
  const put = prepareUpsert(db, chapterProposals, chapterProposals.task_id)
  return {
    of: prepareGet(db, chapterProposals, chapterProposals.task_id),
    put: (proposal) => {
      put({ ...proposal })
    },
  }
}
