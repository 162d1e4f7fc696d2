import { z } from 'zod'
import { ForgeError } from '../../../ports/forges.ts'
import { pausedUntil } from '../../rules/next-poll.ts'
import type { ForgeAnswer } from '../forge-requests.ts'
import { parseAnswer } from '../parse-answer.ts'
import { graphqlUrl, label, ssoUrl, tokenUrl, webUrl } from './dialect.ts'
import type { Github } from './github.ts'

const GraphqlError = z.looseObject({
  message: z.string().catch(''),
  type: z.string().nullish().catch(null),
  extensions: z
    .looseObject({ code: z.string().nullish().catch(null), saml_failure: z.boolean().nullish().catch(null) })
    .nullish()
    .catch(null),
})
type GraphqlError = z.infer<typeof GraphqlError>

const Answer = z
  .looseObject({
    data: z.record(z.string(), z.unknown()).nullish().catch(null),
    errors: z.array(GraphqlError).nullish().catch(null),
  })
  .refine(({ data, errors }) => data != null || (errors ?? []).length > 0)
type Answer = z.infer<typeof Answer>

type Variables = Readonly<Record<string, unknown>>

/** One operation, in more than one form where older servers don't know all of its fields; the fullest first. */
export type Operation = readonly [string, ...string[]]

/**
 * Asks for what only GraphQL has. A refused field is null, and its error stands beside the rest with status 200: what
 * is there is answered. `schema` makes null of what lacks the part that counts; then the error is thrown.
 */
export async function query<T>(
  github: Github,
  operation: Operation,
  variables: Variables,
  schema: z.ZodType<T | null>,
): Promise<T> {
  const { answer, header } = await run(github, operation, { variables, isRead: true })
  const found = answer.data ? parseAnswer(schema, answer.data, label) : null
  if (found === null) throw errorOf(github, answer.errors?.[0] ?? nothing, header)
  return found
}

const nothing: GraphqlError = { message: 'nothing was found', type: 'NOT_FOUND' }

/** Changes something that REST can't. Throws `ForgeError`; `refused` with GitHub's reason where a rule says no. */
export async function mutate(github: Github, operation: Operation, variables: Variables): Promise<void> {
  const { answer, header } = await run(github, operation, { variables, isRead: false })
  const [error] = answer.errors ?? []
  if (error) throw errorOf(github, error, header)
}

interface Sent {
  readonly variables: Variables
  readonly isRead: boolean
}

interface Answered {
  readonly answer: Answer
  readonly header: ForgeAnswer['header']
}

const oneDay = () => 86_400_000

/** Sends the fullest form that the server knows. An unknown field is an error of the whole, before any of it is done. */
async function run(github: Github, operation: Operation, sent: Sent): Promise<Answered> {
  const tried: Answered[] = []
  const index = await github.recall(`graphql ${operation[0]}`, oneDay, async () => {
    for (const [form, text] of operation.entries()) {
      const answered = await ask(github, text, sent)
      tried.push(answered)
      if (!answered.answer.errors?.some(isUnknown)) return form
    }
    return -1
  })
  const text = operation[index]
  if (text === undefined) throw new ForgeError('not_supported', `This version of ${label} doesn't have it.`)
  return tried.at(-1) ?? ask(github, text, sent)
}

async function ask(github: Github, text: string, { variables, isRead }: Sent): Promise<Answered> {
  const { json, header } = await github.api.send({
    method: 'POST',
    url: graphqlUrl(github.source),
    body: { query: text, variables },
    isRead,
  })
  return { answer: parseAnswer(Answer, json, label), header }
}

const isUnknown = ({ message, extensions }: GraphqlError) =>
  ['undefinedField', 'argumentNotAccepted'].includes(extensions?.code ?? '') ||
  /doesn't exist on type|doesn't accept argument/.test(message)

function errorOf(github: Github, error: GraphqlError, header: ForgeAnswer['header']): ForgeError {
  const { message, type, extensions } = error
  const said = message === '' ? '' : ` It says: ${message.slice(0, 500)}`
  if (type === 'RATE_LIMITED' || /rate limit/i.test(message)) {
    const not_before = pausedUntil({ now: github.now(), header }) ?? github.now() + 60_000
    github.api.pause(not_before)
    return new ForgeError('rate_limited', `${label}'s rate limit is reached. Copse continues when it resets.`, {
      not_before,
    })
  }
  if (extensions?.saml_failure === true) {
    const url = ssoUrl(header('x-github-sso'))
    const sentence = `The organization at ${label} wants the token to be authorized for single sign-on.${said}`
    return new ForgeError('forbidden', sentence, { right: 'single sign-on', ...(url !== null && { url }) })
  }
  if (/archived/i.test(message)) {
    return new ForgeError('archived', `${label} has the repository archived, so nothing in it can be changed.`)
  }
  if (type === 'FORBIDDEN' || type === 'INSUFFICIENT_SCOPES') return forbidden(github, said, header)
  if (type === 'NOT_FOUND') {
    return new ForgeError('not_found', `${label} doesn't have it, or the token can't see it.${said}`)
  }
  if (type === undefined || type === null || type === 'SERVICE_UNAVAILABLE') {
    return new ForgeError('unreachable', `${label} failed.${said}`)
  }
  return new ForgeError('refused', `${label} refused.${said}`)
}

/** GraphQL names no right in its headers. */
function forbidden(github: Github, said: string, header: ForgeAnswer['header']): ForgeError {
  const isClassic = header('x-oauth-scopes') !== null
  return new ForgeError('forbidden', `${label} doesn't allow this with the token.${said}`, {
    right: isClassic ? 'repo (classic)' : 'Pull requests: read and write, and Contents: read and write',
    url: tokenUrl(webUrl(github.source), isClassic),
  })
}
