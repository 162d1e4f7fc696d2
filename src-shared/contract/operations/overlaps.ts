import { z } from 'zod'
import { ProjectId } from '../ids.ts'
import { get, list } from '../operation.ts'
import { Overlap } from '../overlaps.ts'

export const overlapOperations = {
  'overlaps.list': get(
    '/projects/{project_id}/overlaps',
    'member',
    'The pairs of live worktrees of one repository and base branch that would conflict or come close, uncommitted work included.',
    z.object({ project_id: ProjectId }),
    list(Overlap),
  ),
} as const
