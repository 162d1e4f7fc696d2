import type { Target } from '../fuzz/fuzz-requests.ts'

type Values = Readonly<Record<string, unknown>>

export interface Asked {
  readonly status: number
  /** The code and the text of a refusal; null if it was let in. */
  readonly refusal: { readonly code: string; readonly message: string } | null
}

/** Sends one request of the API's description with these values, each in its place. */
export async function send(url: string, { method, path, query, body }: Target, values: Values, token: string | null) {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '')
  const inQuery = new Set(query.map(([name]) => name))
  const left = Object.entries(values).filter(([name]) => !inPath.includes(name))
  const search = new URLSearchParams(
    left.flatMap(([name, value]) =>
      inQuery.has(name) && value !== undefined
        ? [[name, typeof value === 'string' ? value : JSON.stringify(value)]]
        : [],
    ),
  )
  const address = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(String(values[name])))
  const sent = body === null ? undefined : Object.fromEntries(left.filter(([name]) => !inQuery.has(name)))
  return await read(await fetchWith(url + address + (search.size > 0 ? `?${search}` : ''), method, token, sent))
}

/** Calls an MCP tool. */
export async function callTool(url: string, name: string, values: Values, token: string | null): Promise<Asked> {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: values } }
  const response = await fetchWith(`${url}/api/v1/mcp`, 'POST', token, call)
  if (!response.ok) return read(response)
  const text = await response.text()
  const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as {
    readonly result: { readonly isError?: boolean; readonly content: readonly { readonly text: string }[] }
  }
  if (result.isError !== true) return { status: 200, refusal: null }
  return refusedWith(400, result.content[0]?.text ?? '')
}

/** The MCP tools that the service lists, with the names of their arguments. */
export async function listTools(url: string, token: string): Promise<{ name: string; takes: readonly string[] }[]> {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  const text = await (await fetchWith(`${url}/api/v1/mcp`, 'POST', token, call)).text()
  const { result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text) as {
    readonly result: { readonly tools: readonly { name: string; inputSchema: { properties?: object } }[] }
  }
  return result.tools.map(({ name, inputSchema }) => ({ name, takes: Object.keys(inputSchema.properties ?? {}) }))
}

function fetchWith(address: string, method: string, token: string | null, body?: object): Promise<Response> {
  return fetch(address, {
    method,
    headers: {
      accept: 'application/json, text/event-stream',
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
}

async function read(response: Response): Promise<Asked> {
  // A stream that was let in is left at once.
  if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) {
    await response.body?.cancel()
    return { status: response.status, refusal: null }
  }
  const text = await response.text()
  return response.ok ? { status: response.status, refusal: null } : refusedWith(response.status, text)
}

function refusedWith(status: number, text: string): Asked {
  const { error } = JSON.parse(text) as { readonly error: { readonly code: string; readonly message: string } }
  return { status, refusal: error }
}
