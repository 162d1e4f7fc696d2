import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveParent } from './child.ts'

/** A tracker that has the same issues in every repository, each page written out beforehand. */
export interface IssueServerRequest {
  readonly issues: number
}

const pageSize = 100

serveParent<IssueServerRequest, { readonly url: string }>(async ({ issues }) => {
  const pages = Array.from({ length: Math.ceil(issues / pageSize) }, (_, page) => {
    const count = Math.min(pageSize, issues - page * pageSize)
    return Buffer.from(JSON.stringify(Array.from({ length: count }, (_item, at) => issue(page * pageSize + at + 1))))
  })
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host ?? ''}`)
    const page = Number(url.searchParams.get('page') ?? 1)
    const to = (number: number) => {
      url.searchParams.set('page', String(number))
      return url.href
    }
    const link = page < pages.length ? { link: `<${to(page + 1)}>; rel="next", <${to(pages.length)}>; rel="last"` } : {}
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', ...link })
    response.end(pages[page - 1] ?? '[]')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
})

/** As large as GitHub's, with a body of one to three kilobytes. */
function issue(number: number): unknown {
  const api = 'https://api.github.com/repos/acme/shop'
  const links = ['labels_url', 'comments_url', 'events_url', 'timeline_url', 'repository_url']
  const person = ['followers_url', 'following_url', 'gists_url', 'starred_url', 'organizations_url', 'repos_url']
  return {
    ...Object.fromEntries(links.map((name) => [name, `${api}/issues/${number}/${name}`])),
    id: 1_000_000 + number,
    number,
    title: `The answer comes in another language than the person chose, case ${number}`,
    user: {
      login: `person-${number % 97}`,
      id: number % 97,
      ...Object.fromEntries(person.map((name) => [name, `https://api.github.com/users/person-${number % 97}/${name}`])),
    },
    labels: [{ id: number % 7, name: `area-${number % 7}`, color: 'ededed', default: false, description: null }],
    state: 'open',
    locked: false,
    assignees: [],
    comments: number % 11,
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    html_url: `https://github.com/acme/shop/issues/${number}`,
    body: `## Steps\n\n1. Choose a language\n\n${'Read `Accept-Language`, and pick the closest one. '.repeat(20 + (number % 40))}`,
  }
}
