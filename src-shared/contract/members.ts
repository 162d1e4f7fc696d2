import { z } from 'zod'
import { ProjectId, UserId } from './ids.ts'

/** Roles in a project: members work, owners also change the project itself. */
export const memberRoles = ['owner', 'member'] as const
export type MemberRole = (typeof memberRoles)[number]

/** A user's membership of a project. */
export const Member = z
  .object({
    project_id: ProjectId,
    user_id: UserId,
    role: z.enum(memberRoles),
    email: z.string(),
    handle: z.string(),
    display_name: z.string(),
  })
  .meta({ id: 'Member' })
export type Member = z.infer<typeof Member>
