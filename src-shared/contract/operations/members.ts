import { z } from 'zod'
import { ProjectId, UserId } from '../ids.ts'
import { Member, memberRoles } from '../members.ts'
import { del, get, list, post } from '../operation.ts'

export const membersOperations = {
  'members.list': get(
    '/projects/{project_id}/members',
    'member_human',
    'Who belongs to a project.',
    z.object({ project_id: ProjectId }),
    list(Member),
  ),
  'members.add': {
    ...post(
      '/projects/{project_id}/members',
      'owner',
      'Add someone to a project, or change a member’s role.',
      z
        .object({
          project_id: ProjectId,
          user_id: UserId.optional(),
          email: z.string().max(254).optional().describe('Instead of `user_id`.'),
          role: z.enum(memberRoles).default('member'),
        })
        .refine(({ user_id, email }) => (user_id === undefined) !== (email === undefined), {
          path: ['user_id'],
          message: 'Say who: user_id or email, one of them.',
        }),
      Member.extend({ added: z.boolean().describe('False when they were a member already.') }),
      201,
      ['last_owner'],
    ),
    unchanged: 'added',
  },
  'members.remove': del(
    '/projects/{project_id}/members/{user_id}',
    'owner',
    'Remove someone from a project.',
    z.object({ project_id: ProjectId, user_id: UserId }),
    ['last_owner'],
  ),
} as const
