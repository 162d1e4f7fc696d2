import { z } from 'zod'
import type { ForgeComment } from '../../../ports/forges.ts'
import { shortenText } from '../shorten.ts'
import { part, type Github } from './github.ts'
import { Text, User } from './pull-fields.ts'
import { maxText } from './pulls.ts'

const members = ['OWNER', 'MEMBER', 'COLLABORATOR']

/** Answers whether an author belongs to the repository, by GitHub's `author_association`. */
export const isMember = (association: string | null | undefined): boolean | null =>
  association == null ? null : members.includes(association)

export const CommentFields = z.looseObject({
  id: z.number(),
  user: User,
  author_association: z.string().nullish().catch(null),
  body: Text,
  created_at: z.string(),
})

export function toComment(fields: z.infer<typeof CommentFields>): ForgeComment {
  const { id, user, author_association, body, created_at } = fields
  return { id: String(id), author: user, is_member: isMember(author_association), body, created_at }
}

const commentsPath = (number: number) => `/issues/${part(number)}/comments`

export async function listComments(github: Github, number: number): Promise<readonly ForgeComment[]> {
  return (await github.list(commentsPath(number), CommentFields)).map(toComment)
}

export async function writeComment(github: Github, number: number, body: string): Promise<ForgeComment> {
  const text = shortenText(body, maxText)
  return toComment(await github.send('POST', commentsPath(number), { body: text }, CommentFields))
}
