import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import type { Api } from '../../../src-main/api/api.ts'
import type { Principal } from '../../../src-main/domain/access/principal.ts'
import { createStore } from '../../../src-main/store/create-store.ts'
import { openDatabase } from '../../../src-main/store/database.ts'
import { ApiError, type ErrorCode } from '../../../src-shared/contract/errors.ts'
import type { UserId } from '../../../src-shared/contract/ids.ts'
import { operations, type OperationName } from '../../../src-shared/contract/operations.ts'
import { register } from '../../helpers/membership.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { runApp } from '../../helpers/running-app.ts'
import { inputFor } from './matrix-inputs.ts'
import { buildWorld, columns, createWorlds, type TokenCaller, type World } from './matrix-world.ts'

const file = new URL('matrix.txt', import.meta.url)

/** How a refusal is written; one that does not concern rights counts as allowed. */
const marks: Partial<Record<ErrorCode, string>> = {
  missing_token: 'T',
  invalid_token: 'I',
  humans_only: 'H',
  jwt_required: 'J',
  admin_required: 'A',
  not_a_member: 'M',
  owner_required: 'O',
  forbidden: 'F',
  daemon_token_required: 'D',
  read_only_token: 'R',
  needs_person: 'P',
  not_found: '-',
}

const rows: Readonly<Record<string, (api: Api, world: World, principal: Principal) => Promise<unknown>>> = {
  ...Object.fromEntries(
    (Object.keys(operations) as OperationName[]).map((name) => [
      name,
      (api: Api, world: World, principal: Principal) => api.call(name, inputFor(name, world), contextOf(principal)),
    ]),
  ),
  'events.stream': async (api, _world, principal) => firstOf(api.events({}, null, contextOf(principal))),
  'events.stream (project)': async (api, { ids: { project_id } }, principal) =>
    firstOf(api.events({ project_id }, null, contextOf(principal))),
  'executions.stream': async (api, { ids: { execution_id } }, principal) =>
    firstOf(api.transcript({ execution_id }, 0, contextOf(principal))),
}

/** Aborts allowed calls at once, so that nothing long starts and no stream stays open. */
const contextOf = (principal: Principal) => ({ principal, signal: AbortSignal.abort(), remote_address: null })

async function firstOf(items: AsyncIterable<unknown>): Promise<void> {
  await items[Symbol.asyncIterator]().next()
}

async function markOf(call: () => Promise<unknown>): Promise<string> {
  try {
    await call()
    return '+'
  } catch (error) {
    return (error instanceof ApiError && marks[error.code]) || '+'
  }
}

test('allows what matrix.txt says; UPDATE_MATRIX=1 accepts a change', async () => {
  await using running = await runApp()
  const database = await openDatabase(
    join(running.dataDir, 'copse.db'),
    resolve(projectRoot, 'src-main/store/migrations'),
  )
  const store = createStore(database)
  const [owner, member, stranger] = await Promise.all(['Olga', 'Mia', 'Sam'].map((name) => register(running, name)))
  const { id: admin } = await running.client.call('auth.me', {})
  const people = { admin, owner: owner?.user_id, member: member?.user_id, stranger: stranger?.user_id } as Record<
    'admin' | 'owner' | 'member' | 'stranger',
    UserId
  >
  const { api } = running.app
  const lines: string[] = []
  const differing: string[] = []
  const worlds = createWorlds(database)
  for (const [name, call] of Object.entries(rows)) {
    const cells: string[] = []
    for (const { who, system } of columns) {
      const world = worlds(String(system), () => buildWorld(store, database, people, system))
      const cell = await markOf(() => call(api, world, world.callers[who]))
      cells.push(cell)
      // Calls that are let in would do something; one that is refused must be refused at the door too.
      if (cell === '+' || system || !isOperation(name)) continue
      const token = world.tokens[who as TokenCaller]
      if (token === undefined) continue
      const atDoor = await markOf(() => running.clientWith(token).call(name, inputFor(name, world)))
      // The stranger's token is a personal one here, because calls that are let in end sessions.
      if (atDoor !== cell && !(who === 'stranger' && atDoor === 'J'))
        differing.push(`${name} by ${who}: ${cell}, over HTTP ${atDoor}`)
    }
    // What even an admin does not find is not hidden from anyone.
    const isMissing = cells[2] === '-'
    lines.push(line(name, isMissing ? cells.map((cell) => (cell === '-' ? '+' : cell)) : cells))
  }
  store.close()
  expect(differing).toEqual([])
  const text = [...heading(), ...lines, ''].join('\n')
  if (process.env['UPDATE_MATRIX'] === '1') await writeFile(file, text)
  expect(text).toBe(await readFile(file, 'utf8'))
}, 120_000)

test('has a row for every route that the service lists', async () => {
  await using running = await runApp()
  const { paths } = (await (await fetch(`${running.url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly operationId?: string }>>>>
  }
  const listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => operationId ?? `${method} ${path}`),
  )
  // These two are for everyone, and the tools of the third are operations.
  expect(listed.filter((name) => !(name in rows))).toEqual(['healthz', 'openapi', 'mcp'])
  expect(listed.length).toBeGreaterThan(100)
})

const isOperation = (name: string): name is OperationName => name in operations

const line = (name: string, cells: readonly string[]) =>
  (name.padEnd(29) + cells.map((cell) => cell.padStart(3)).join('')).trimEnd()

function heading(): string[] {
  return [
    'Who may do what. Made by matrix.test.ts; UPDATE_MATRIX=1 writes it anew.',
    '',
    `+ let in, ${Object.entries(marks)
      .map(([code, mark]) => `${mark} ${code}`)
      .join(', ')} (as if it did not exist)`,
    '',
    ...columns.map(({ title }, index) => `${String(index + 1).padStart(2)} ${title}`),
    '',
    line(
      '',
      columns.map((_, index) => String(index + 1)),
    ),
  ]
}
