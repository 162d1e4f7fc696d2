import type { z } from 'zod'
import type { ForgeSource } from '../../../ports/forges.ts'
import type { ForgeContext } from '../bound-forge.ts'
import type { ForgeApi, ForgeRequest } from '../forge-requests.ts'
import { parseAnswer, parseItems } from '../parse-answer.ts'
import type { Recall } from '../recall.ts'
import { apiUrl, githubDialect, label } from './dialect.ts'

/** One repository at GitHub. */
export interface Github {
  readonly source: ForgeSource
  readonly api: ForgeApi
  readonly now: () => number
  /** Returns the address of what lies below the repository. */
  url(path: string, query?: Readonly<Record<string, string>>): string
  get<T>(path: string, schema: z.ZodType<T>): Promise<T>
  send<T>(method: 'POST' | 'PATCH' | 'PUT', path: string, body: unknown, schema: z.ZodType<T>): Promise<T>
  /** `field` holds the list where the answer isn't one. */
  list<T>(path: string, schema: z.ZodType<T>, more?: ListOptions): Promise<readonly T[]>
  /** Remembers something of the repository. */
  readonly recall: Recall
}

interface ListOptions {
  readonly query?: Readonly<Record<string, string>>
  readonly pages?: number
  readonly field?: string
}

/** The most items that GitHub gives on a page. */
const perPage = '100'

export function openGithub({ source, api: apiWith, recall, clock }: ForgeContext): Github {
  const api = apiWith(githubDialect(source))
  const repository = `${apiUrl(source)}/repos/${encodeURIComponent(source.owner)}/${encodeURIComponent(source.repo)}`
  const key = `${repository} ${source.token_secret_ref}`
  const url = (path: string, query: Readonly<Record<string, string>> = {}) => {
    const search = new URLSearchParams(query).toString()
    return `${repository}${path}${search === '' ? '' : `?${search}`}`
  }
  const parsed = async <T>(request: ForgeRequest, schema: z.ZodType<T>) =>
    parseAnswer(schema, (await api.send(request)).json, label)
  return {
    source,
    api,
    now: () => clock.now(),
    url,
    get: (path, schema) => parsed({ url: url(path) }, schema),
    send: (method, path, body, schema) => parsed({ method, url: url(path), body }, schema),
    list: async (path, schema, { query = {}, pages, field } = {}) =>
      parseItems(schema, await api.list(url(path, { per_page: perPage, ...query }), { pages, field })),
    recall: (what, forMs, load) => recall(`${key} ${what}`, forMs, load),
  }
}

/** Returns the text as a part of a path. */
export const part = (text: string | number) => encodeURIComponent(String(text))
