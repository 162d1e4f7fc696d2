import type { Database } from './database-type.ts'
import { prepareGet, prepareUpsert } from './prepared-statements.ts'
import { chapterProposals } from './schema/chapters.ts'
import type { ChapterProposalQueries } from '../ports/chapter-queries.ts'

/** Creates the queries of chapters that people and agents proposed. */
export function createChapterProposalQueries(db: Database): ChapterProposalQueries {
  const put = prepareUpsert(db, chapterProposals, chapterProposals.task_id)
  return {
    of: prepareGet(db, chapterProposals, chapterProposals.task_id),
    put: (proposal) => {
      put({ ...proposal })
    },
  }
}
