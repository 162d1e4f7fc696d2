// Tries what a program of a run might with credentials that it found, and prints each answer as JSON: status and code.
// Arguments: the service's URL, the credentials as JSON, the file for the answers, and `orphan` to wait until its
// parent is gone.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const [url, json, file, wait] = process.argv.slice(2)
const found = JSON.parse(json)
/** Its parent is a shell or `setsid` until that has ended. */
const hasParent = () => /^(sh|dash|bash|setsid)$/.test(readFileSync(`/proc/${process.ppid}/comm`, 'utf8').trim())
while (wait === 'orphan' && hasParent()) await pause(5)

async function ask(method, path, { token, body, accept } = {}) {
  const headers = {
    ...(token && { authorization: `Bearer ${token}` }),
    ...(body && { 'content-type': 'application/json' }),
    ...(accept && { accept }),
  }
  const left = new AbortController()
  try {
    const response = await fetch(url + path, {
      method,
      headers,
      signal: left.signal,
      ...(body && { body: JSON.stringify(body) }),
    })
    if (response.ok) return String(response.status)
    return `${response.status} ${(await response.json()).error?.code}`
  } catch (error) {
    return String(error.cause?.code ?? error.message)
  } finally {
    // Streams have no end.
    left.abort()
  }
}

const tools = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const both = 'application/json, text/event-stream'
const { session, pat, daemon, daemon_id, local, code, invite, other, execution_id } = found
const { SVC_API_TOKEN: own } = process.env
const me = { password: 'correct horse', display_name: 'Mallory' }
const api = '/api/v1'

const attacks = {
  'REST, session': () => ask('GET', `${api}/projects`, { token: session.access_token }),
  'REST, new token': () => ask('POST', `${api}/auth/tokens`, { token: session.access_token, body: { name: 'mine' } }),
  'REST, personal token': () => ask('GET', `${api}/projects`, { token: pat }),
  'REST, token of another run': () => ask('GET', `${api}/projects`, { token: other }),
  'REST, page of this machine': () => ask('GET', `${api}/projects`, { token: local }),
  'REST, remote machine': () => ask('POST', `${api}/daemons/${daemon_id}/report`, { token: daemon, body: {} }),
  'REST, no route': () => ask('GET', `${api}/nothing`, { token: pat }),
  'MCP, personal token': () => ask('POST', `${api}/mcp`, { token: pat, body: tools, accept: both }),
  'MCP, token in address': () => ask('POST', `${api}/mcp?token=${pat}`, { body: tools, accept: both }),
  'SSE, events': () => ask('GET', `${api}/events`, { token: session.access_token }),
  'SSE, transcript': () => ask('GET', `${api}/executions/${execution_id}/stream`, { token: pat }),
  'page, sign in': () =>
    ask('POST', `${api}/auth/login`, { body: { email: 'owner@copse.test', password: 'correct horse' } }),
  'page, one-time code': () => ask('POST', `${api}/auth/local`, { body: { code } }),
  'page, refresh': () => ask('POST', `${api}/auth/refresh`, { body: { refresh_token: session.refresh_token } }),
  'page, sign out': () => ask('POST', `${api}/auth/logout`, { body: { refresh_token: session.refresh_token } }),
  'page, register': () => ask('POST', `${api}/auth/register`, { body: { ...me, email: `${file.length}@copse.test` } }),
  'page, invite': () => ask('POST', `${api}/auth/register`, { body: { ...me, email: 'm@copse.test', invite } }),
}
const allowed = {
  'page, files': () => ask('GET', '/'),
  health: () => ask('GET', '/healthz'),
  description: () => ask('GET', '/openapi.json'),
  ...(own && {
    'own, REST': () => ask('GET', `${api}/projects`, { token: own }),
    'own, MCP': () => ask('POST', `${api}/mcp`, { token: own, body: tools, accept: both }),
    'own, SSE': () => ask('GET', `${api}/events`, { token: own }),
  }),
}

async function answers(of) {
  const list = []
  for (const [name, attack] of Object.entries(of)) list.push([name, await attack()])
  return Object.fromEntries(list)
}

writeFileSync(`${file}.new`, JSON.stringify({ attacks: await answers(attacks), allowed: await answers(allowed) }))
renameSync(`${file}.new`, file)
