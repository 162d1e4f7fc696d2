import { givenFields } from '../../src-shared/lang/given-fields.ts'
import type { TaskRecord } from '../ports/task-queries.ts'

/** Returns the fields of a task that were given; one that its record does not have does not compile. */
export const givenTaskFields = givenFields<TaskRecord>()
