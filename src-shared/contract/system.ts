import { z } from 'zod'
import { ContainmentStatus } from './containment.ts'

export const SystemInfo = z
  .object({
    version: z.string(),
    data_dir: z.string().nullable().describe('Only for admins and the person at the machine.'),
    home_dir: z
      .string()
      .nullable()
      .describe('The home folder of the user who runs it. Only for admins and the person at the machine.'),
    registered: z.boolean().describe('Someone has registered, so the API is open to other clients.'),
    local_operator: z.boolean().describe('The caller is the person at this machine.'),
    url: z.string().nullable().describe('Where the HTTP API listens.'),
    damage: z
      .string()
      .nullable()
      .describe(
        'What the check after an unclean end has found wrong with the database, and what to do; null for nothing. Only admins learn where the file is.',
      ),
    containment: ContainmentStatus.describe('Whether runs can be contained on this machine.'),
    exposed: z.boolean().describe('Other machines can reach the HTTP API.'),
  })
  .meta({ id: 'SystemInfo' })
export type SystemInfo = z.infer<typeof SystemInfo>
