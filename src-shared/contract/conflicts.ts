import { z } from 'zod'

/** Why git could not merge a path. */
export const conflictKinds = [
  'content',
  'add/add',
  'modify/delete',
  'rename/delete',
  'rename/rename',
  'rename/collision',
  'rename/directory',
  'file/directory',
  'file/type',
  'symlink',
  'submodule',
  'binary',
] as const
export type ConflictKind = (typeof conflictKinds)[number]

/** One conflict in a file. */
export const ConflictHunk = z.object({
  path: z.string(),
  kind: z.enum(conflictKinds),
  line: z.int().nullable().describe('Where it begins in the file as git left it, with its markers.'),
  text: z.string().nullable().describe('The conflicting lines between markers; null where there are none to show.'),
  truncated: z.boolean(),
})
export type ConflictHunk = z.infer<typeof ConflictHunk>
