import { once } from 'node:events'
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endOf, startOnTerminal, startSvc, startWorld, type SvcWorld } from './svc-process.ts'

let world: SvcWorld
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

/** A data folder for one test's sign-ins. */
const newHome = () => mkdtemp(join(world.home, 'home-'))
const signInFile = (home: string) => join(home, 'secrets', 'svc-sign-ins.json')
const account = ['--email', 'owner@copse.test']
/** Without the token of the environment. */
const from = (home: string, stdin = '') => ({ env: { SVC_API_TOKEN: '', SVC_DATA_DIR: home }, stdin })
const tokens = async () => (await world.client.call('auth.list_tokens', {})).items

test('stores a private token on sign-in and uses it until sign-out', async () => {
  const home = await newHome()
  expect(await world.svc(['login', ...account], from(home, 'correct horse\n'))).toEqual({
    code: 0,
    stdout: `Signed in to ${world.url} as owner@copse.test.\n`,
    stderr: '',
  })
  const file = signInFile(home)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const kept = JSON.parse(await readFile(file, 'utf8')) as { sign_ins: Record<string, { token: string }> }
  expect(kept).toMatchObject({ current: world.url, sign_ins: { [world.url]: { who: 'owner@copse.test' } } })
  expect(await tokens()).toMatchObject([{ name: expect.stringMatching(/^svc on /) as string }])

  // The address comes from the sign-in too.
  const elsewhere = { env: { SVC_API_TOKEN: '', SVC_API_URL: '', SVC_DATA_DIR: home } }
  expect(await world.json(['logout'], elsewhere)).toEqual({ url: world.url, revoked: true })
  expect(await tokens()).toEqual([])
  expect(await readFile(file, 'utf8')).not.toContain(kept.sign_ins[world.url]?.token ?? 'no token')
})

test('refuses a wrong password with the API’s message, as JSON for programs', async () => {
  const home = await newHome()
  const refused = await world.svc(['login', ...account, '--json'], from(home, 'wrong password\n'))
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(JSON.parse(refused.stderr)).toMatchObject({ error: { code: 'invalid_credentials' } })
  await expect(stat(signInFile(home))).rejects.toThrow('ENOENT')
})

test('tells where no one has an account yet how to make the first one', async () => {
  await using fresh = await startWorld({ signedIn: false })
  const refused = () => fresh.svc(['login', ...account], from(fresh.home, 'correct horse\n'))
  const { code, stderr } = await refused()
  expect(code).toBe(1)
  expect(stderr).toContain(`No one has an account there yet. Make the first one at ${fresh.url}, or with: svc call `)
  const [, operation = ''] = /svc call (\S+)/.exec(stderr) ?? []
  const fields = ['email=owner@copse.test', 'display_name=Owner', 'password=correct horse']
  expect(await fresh.svc(['call', operation, ...fields])).toMatchObject({ code: 0 })
  expect(await refused()).toMatchObject({ code: 0 })
})

test('tries a given token first, and keeps it on sign-out', async () => {
  const home = await newHome()
  const { token, id } = await world.client.call('auth.create_token', { name: 'mine' })
  expect(await world.svc(['login', '--token', '-'], from(home, `${token}\n`))).toMatchObject({ code: 0 })
  expect(await world.json(['logout'], from(home))).toEqual({ url: world.url, revoked: false })
  expect((await tokens()).map((one) => one.id)).toEqual([id])

  const made = await world.svc(['login', '--token', 'svc_made_up'], from(home))
  expect(made).toMatchObject({ code: 1, stdout: '' })
  expect(made.stderr).toContain('svc login')
})

test('signs in once with the link that Copse prints', async () => {
  await using local = await startWorld({ as: 'local', signedIn: false })
  const link = /http\S+/.exec(local.firstLine)?.[0] ?? ''
  expect(await local.svc(['login', link])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('the person at this machine') as string,
  })
  const again = await local.svc(['login', link])
  expect(again).toMatchObject({ code: 1 })
  expect(again.stderr).toContain('Press Enter where Copse was started')
  expect(await local.svc(['login', local.url])).toMatchObject({ code: 2 })
})

test('says how to start a service where none runs', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  await once(taken.close(), 'close')
  const silent = { env: { SVC_API_URL: `http://127.0.0.1:${port}`, SVC_DATA_DIR: '/nonexistent' } }
  const ended = await endOf(startSvc(['login', '--token', 'svc_x'], silent))
  expect(ended).toMatchObject({ code: 1, stdout: '' })
  expect(ended.stderr).toMatch(/^svc: .*ECONNREFUSED.*`svc serve`.*--url/)
})

test('refuses an invalid address, or a password prompt without a terminal, as usage errors', async () => {
  const env = { SVC_DATA_DIR: '/nonexistent' }
  for (const args of [['login', '--url', 'copse'], ['login'], ['login', '--prot']]) {
    expect(await endOf(startSvc(args, { env }))).toMatchObject({ code: 2, stdout: '' })
  }
})

test('says what to do about a damaged file of sign-ins', async () => {
  const home = await newHome()
  await world.svc(['login', ...account], from(home, 'correct horse\n'))
  await writeFile(signInFile(home), '{')
  const ended = await world.svc(['logout'], from(home))
  expect(ended).toMatchObject({ code: 1 })
  expect(ended.stderr).toContain('Delete it and sign in again')
})

test('asks on a terminal, and hides the password', async () => {
  const terminal = startOnTerminal(['login'], {
    env: { ...world.env, SVC_API_TOKEN: '', SVC_DATA_DIR: await newHome() },
  })
  await terminal.waitFor(/Email: /)
  terminal.write('owner@copse.test\r')
  await terminal.waitFor(/Password: /)
  terminal.write('correct horse\r')
  expect(await terminal.exit).toBe(0)
  expect(terminal.shown()).toContain(`Signed in to ${world.url} as owner@copse.test.`)
  expect(terminal.shown()).not.toMatch(/correct|\*/)
})

test('changes nothing on Ctrl-C at a question, and ends with 1', async () => {
  const home = await newHome()
  const terminal = startOnTerminal(['login'], { env: { ...world.env, SVC_API_TOKEN: '', SVC_DATA_DIR: home } })
  await terminal.waitFor(/Email: /)
  terminal.write('\u0003')
  expect(await terminal.exit).toBe(1)
  await expect(stat(signInFile(home))).rejects.toThrow('ENOENT')
})

test('asks for the password where a token is not enough', async () => {
  const { access_token } = await world.client.call('auth.register', {
    email: 'bob@copse.test',
    password: 'correct horse',
    display_name: 'Bob',
  })
  const home = await newHome()
  const bob = ['--email', 'bob@copse.test']
  expect((await world.svc(['login', ...bob], from(home, 'correct horse\n'))).code).toBe(0)
  const sessions = async (stdin: string) =>
    (await world.json<{ items: { id: string }[] }>(['sessions'], from(home, stdin))).items
  // The sign-ins of `svc login` and of the question itself have ended, so only the registration is left.
  const [session, ...others] = await sessions('correct horse\n')
  expect(others).toEqual([])
  expect((await world.svc(['sessions'], from(home, 'wrong horse\n'))).stderr).toContain('wrong')
  const changed = await world.svc(['password'], from(home, 'correct horse\nbattery staple\n'))
  expect(changed).toMatchObject({ code: 0, stdout: expect.stringContaining('is changed') as string })
  expect(await sessions('battery staple\n')).toEqual([])
  const ended = await world.svc(['sessions', '--end', session?.id.slice(-8) ?? ''], from(home, 'battery staple\n'))
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('No session') as string })
  const asBob = { env: { SVC_API_TOKEN: access_token } }
  expect(await world.svc(['sessions'], asBob)).toMatchObject({ code: 1 })
  expect((await world.svc(['invite'], from(home, 'battery staple\n'))).stderr).toContain('Only an admin')
})

test('creates, lists and revokes an invite as admin', async () => {
  const made = await world.json<{ id: string; code: string }>(['invite', '--days', '1'])
  expect(made.code).toMatch(/^[\w-]{43}$/)
  expect((await world.json<{ items: { id: string }[] }>(['invite', '--list'])).items.map(({ id }) => id)).toEqual([
    made.id,
  ])
  const printed = await world.svc(['invite'])
  expect(printed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[\w-]{43}\n$/) as string })
  expect(await world.svc(['invite', '--delete', made.id.slice(-8)])).toMatchObject({ code: 0 })
  expect((await world.json<{ items: unknown[] }>(['invite', '--list'])).items).toHaveLength(1)
  expect(await world.svc(['invite', '--list', '--delete', 'x'])).toMatchObject({ code: 2 })
})
