import type { ForgeReply, ForgeRequestSeen } from '../forge-server.ts'
import type { FakeRepository, FakeToken, Level, Permission } from './state.ts'
import type { World } from './world.ts'

/** A request to a repository, by somebody who may see it. */
export interface Exchange {
  readonly world: World
  readonly repository: FakeRepository
  readonly token: FakeToken
  readonly request: ForgeRequestSeen
  /** The path below the repository. */
  readonly below: string
  /** The parts of the path that vary. */
  readonly params: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
}

export interface Route {
  readonly method: string
  /** Below the repository; `:name` varies. */
  readonly path: string
  /** Each is enough for a fine-grained token. */
  readonly needs: readonly Need[]
  answer(exchange: Exchange): Promise<ForgeReply> | ForgeReply
}

export interface Need {
  readonly permission: Permission
  readonly level: Level
}

export const need = (permission: Permission, level: Level): Need => ({ permission, level })

export const ok = (body: unknown, headers: Readonly<Record<string, string>> = {}): ForgeReply => ({
  status: 200,
  body,
  headers,
})

const docs = 'https://docs.github.com/rest'

export const failure = (status: number, message: string, more: Readonly<Record<string, unknown>> = {}): ForgeReply => ({
  status,
  body: { message, documentation_url: docs, status: String(status), ...more },
})

export const notFound = () => failure(404, 'Not Found')

export const invalid = (errors: readonly unknown[]) => failure(422, 'Validation Failed', { errors })

/** Answers a page of a list, with the addresses of the others. */
export function page(
  { world, request, repository, below }: Exchange,
  items: readonly unknown[],
  field: string | null = null,
): ForgeReply {
  const { query } = request
  const size = Math.min(100, Math.max(1, Number(query['per_page'] ?? 30)))
  const number = Math.max(1, Number(query['page'] ?? 1))
  const pages = Math.ceil(items.length / size)
  const shown = items.slice((number - 1) * size, number * size)
  const to = (to: number, rel: string) =>
    `<${world.api}/repositories/${repository.id}${below}?${new URLSearchParams({ ...query, page: String(to) }).toString()}>; rel="${rel}"`
  const link = number < pages ? { link: `${to(number + 1, 'next')}, ${to(pages, 'last')}` } : {}
  return ok(field === null ? shown : { total_count: items.length, [field]: shown }, link)
}

export const text = (value: unknown): string => (typeof value === 'string' ? value : '')
export const texts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
