import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import type { AppConfig } from '../../../src-main/platform/config/config.ts'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import type { OperationInput, OperationName, OperationOutput } from '../../../src-shared/contract/operations.ts'
import { builtFile, quickFork } from '../../helpers/built.ts'
import { createTestRepository } from '../../helpers/git-repository.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { runApp, type RunningApp } from '../../helpers/running-app.ts'
import { present } from '../../helpers/present.ts'

const script = join(projectRoot, 'test', 'helpers', 'register-script.mjs')
/** Only root can start programs as another user, and only Linux tells a connection's user. */
const canBeOthers = process.getuid?.() === 0
const tellsUsers = process.platform === 'linux'
const nobody = 65_534

type Answer = readonly [status: number, code: string | undefined]

const account = (name: string) => ({ email: `${name}@copse.test`, password: 'correct horse', display_name: name })

async function post(url: string, path: string, body: object, headers: Record<string, string> = {}) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }
  const response = await fetch(`${url}/api/v1${path}`, { ...init, body: JSON.stringify(body) })
  const answer = (await response.json()) as Record<string, unknown>
  return [response.status, answer] as const
}

/** From this test's own process, like a script of the service's user. */
async function register(url: string, name: string, more: object = {}, headers = {}): Promise<Answer> {
  const [status, answer] = await post(url, '/auth/register', { ...account(name), ...more }, headers)
  return [status, (answer['error'] as { code: string } | undefined)?.code]
}

/** From a program of another user of this machine. */
async function registerAs(uid: number, url: string, name: string): Promise<string> {
  const child = spawn(process.execPath, [script, url, name, String(uid)])
  return (await text(child.stdout)).trim()
}

/** The service in a process of its own, as `svc serve` starts it. */
async function serve(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'copse-serve-'))
  const file = await builtFile('cli.js')
  const service = spawn(process.execPath, [file, 'serve', '--json', '--port', '0', '--data-dir', dataDir, ...args], {
    env: { PATH: process.env['PATH'], ...quickFork, SVC_BCRYPT_COST: '4', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines = createInterface({ input: service.stdout })[Symbol.asyncIterator]()
  const line = async () => JSON.parse(String((await lines.next()).value)) as Record<string, string>
  const log = text(service.stderr)
  const { url } = await line()
  return {
    url: String(url),
    line,
    stop: async () => {
      service.kill()
      await once(service, 'exit')
      return await log
    },
    [Symbol.asyncDispose]: async () => {
      service.kill('SIGKILL')
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const unset: Partial<AppConfig> = { registration: null }
const asOperator = (running: RunningApp) => {
  const context = {
    principal: running.app.identity.localPrincipal(),
    signal: new AbortController().signal,
    remote_address: null,
  }
  return async <N extends OperationName>(name: N, input: OperationInput<N>) =>
    (await running.app.api.call(name, input, context)) as OperationOutput<N>
}

test.runIf(tellsUsers && canBeOthers)(
  'refuses another user of this machine on loopback without an invite',
  async () => {
    await using running = await runApp({ unregistered: true, config: unset })
    expect(await registerAs(nobody, running.url, 'mallory')).toBe('403 other_user')
    expect(await register(running.url, 'ada')).toEqual([201, undefined])
    expect(await registerAs(nobody, running.url, 'mallory')).toBe('403 other_user')
    expect(await register(running.url, 'bob')).toEqual([201, undefined])
  },
)

test.runIf(tellsUsers)(
  'treats callers as strangers behind a proxy of the same user, or under another host name',
  async () => {
    await using running = await runApp({ unregistered: true, config: unset })
    for (const header of ['via', 'forwarded', 'x-forwarded-for', 'x-forwarded-proto']) {
      expect(await register(running.url, 'ada', {}, { [header]: '1.1 proxy' }), header).toEqual([403, 'other_user'])
    }
    expect(await register(running.url, 'ada')).toEqual([201, undefined])
  },
)

test.runIf(tellsUsers)(
  'treats a run’s program, even a detached one, and the service’s own children as another user',
  async () => {
    await using repository = await createTestRepository()
    await using running = await runApp({ unregistered: true, config: unset })
    const call = asOperator(running)
    const project = await call('projects.create', { name: 'Job', repo_path: repository.path })
    const register = `'${process.execPath}' '${script}' '${running.url}' mallory`
    const command = [
      `${register} > direct`,
      `setsid --fork sh -c "${register} > apart.new; mv apart.new apart"`,
      `env -i ${register} > bare`,
      'while [ ! -e apart ]; do sleep 0.05; done',
    ].join('\n')
    const agent = await call('agents.create', { name: 'Agent', executor: 'command', config: { command } })
    const task = await call('tasks.create', { project_id: project.id, title: 'Become admin' })
    const { workspace, execution } = await call('tasks.claim', { task_id: task.id, agent_id: agent.id })
    await expect
      .poll(async () => (await call('executions.get', { execution_id: present(execution).id })).status)
      .toBe('succeeded')
    const wrote = (name: string) => readFile(join(workspace?.path ?? '', name), 'utf8')
    expect([await wrote('direct'), await wrote('apart'), await wrote('bare')]).toEqual([
      ...Array<string>(3).fill('403 other_user\n'),
    ])
    const child = spawn(process.execPath, [script, running.url, 'mallory'])
    expect((await text(child.stdout)).trim()).toBe('403 other_user')
  },
)

test('lets everyone in without a code where it is open, but checks a given invite', async () => {
  await using running = await runApp({ unregistered: true, config: { registration: 'open' } })
  expect(await register(running.url, 'ada', {}, { via: '1.1 proxy' })).toEqual([201, undefined])
  expect(await register(running.url, 'bob', { invite: 'x' })).toEqual([403, 'invite_invalid'])
  if (canBeOthers) expect(await registerAs(nobody, running.url, 'bob')).toBe('201')
})

test('creates the first account of the desktop app from its window only', async () => {
  await using running = await runApp({ unregistered: true, config: { ...unset, startedAs: 'desktop' } })
  expect(await register(running.url, 'ada')).toEqual([403, 'other_user'])
  const { identity } = running.app
  const { access_token } = identity.localSignIn(identity.createLocalCode())
  const page = { authorization: `Bearer ${access_token}` }
  expect(await register(running.url, 'ada', {}, page)).toEqual([201, undefined])
  expect(await register(running.url, 'bob')).toEqual([403, 'invite_required'])
  expect(await register(running.url, 'bob', {}, page)).toEqual([403, 'invite_required'])
})

test('creates no later account from the window without an invite', async () => {
  await using running = await runApp({ unregistered: true, config: { ...unset, startedAs: 'desktop' } })
  const { user } = await asOperator(running)('auth.register', account('ada'))
  expect(user.is_admin).toBe(true)
  await expect(asOperator(running)('auth.register', account('bob'))).rejects.toMatchObject({ code: 'invite_required' })
  const { code } = await asOperator(running)('admin.create_invite', {})
  expect(await register(running.url, 'bob', { invite: code })).toEqual([201, undefined])
})

test.runIf(tellsUsers && canBeOthers)('identifies the user of a connection over IPv6 too', async () => {
  await using running = await runApp({ unregistered: true, config: { ...unset, host: '::1' } })
  expect(running.url).toContain('[::1]')
  expect(await registerAs(nobody, running.url, 'mallory')).toBe('403 other_user')
  expect(await register(running.url, 'ada')).toEqual([201, undefined])
})

test('accepts an invite once, counted when the account is created', async () => {
  const time = { now: Date.parse('2026-11-21T09:30:00.000Z') }
  await using running = await runApp({ config: { registration: 'invite' }, clock: { now: () => time.now } })
  const { client, url } = running
  const invite = () => client.call('admin.create_invite', {})
  const first = await invite()
  expect(first).toEqual({
    id: expect.any(String) as string,
    code: expect.stringMatching(/^[\w-]{43}$/) as string,
    expires_at: '2026-11-28T09:30:00.000Z',
  })
  expect(await register(url, 'bob')).toEqual([403, 'invite_required'])
  expect(await register(url, 'owner', { invite: first.code })).toEqual([409, 'email_taken'])
  expect(await register(url, 'bob', { invite: first.code })).toEqual([201, undefined])
  expect(await register(url, 'eve', { invite: first.code })).toEqual([403, 'invite_invalid'])
  const [second, third] = [await invite(), await client.call('admin.create_invite', { expires_in_seconds: 60 })]
  expect((await client.call('admin.list_invites', {})).items.map(({ id }) => id)).toEqual([third.id, second.id])
  expect(JSON.stringify(await client.call('admin.list_invites', {}))).not.toContain(second.code)
  await client.call('admin.delete_invite', { invite_id: second.id })
  expect(await register(url, 'eve', { invite: second.code })).toEqual([403, 'invite_invalid'])
  await expect(client.call('admin.delete_invite', { invite_id: second.id })).rejects.toMatchObject({
    code: 'not_found',
  })
  time.now += 60_000
  expect(await register(url, 'eve', { invite: third.code })).toEqual([403, 'invite_invalid'])
})

test('lets one of many simultaneous users of an invite in', async () => {
  await using running = await runApp({ config: { registration: 'invite' } })
  const { code } = await running.client.call('admin.create_invite', {})
  const names = Array.from({ length: 10 }, (_, index) => `guest${index}`)
  const answers = await Promise.all(names.map((name) => register(running.url, name, { invite: code })))
  expect(answers.filter(([status]) => status === 201)).toHaveLength(1)
  expect(answers.filter(([, refused]) => refused === 'invite_invalid')).toHaveLength(9)
})

test.runIf(canBeOthers)('lets another user of this machine in with a valid invite', async () => {
  await using running = await runApp({ unregistered: true, config: unset })
  const [, session] = await post(running.url, '/auth/register', account('ada'))
  const { code } = await running.clientWith(String(session['access_token'])).call('admin.create_invite', {})
  expect(await register(running.url, 'bob', { invite: code }, { via: '1.1 proxy' })).toEqual([201, undefined])
})

test('lets no one in after the first if closed, even with an invite', async () => {
  await using running = await runApp({ config: { registration: 'closed' } })
  const { code } = await running.client.call('admin.create_invite', {})
  expect(await register(running.url, 'bob', { invite: code })).toEqual([403, 'registration_closed'])
  expect(await register(running.url, 'bob')).toEqual([403, 'registration_closed'])
})

test('has no invites before the first account', async () => {
  await using running = await runApp({ unregistered: true })
  await expect(asOperator(running)('admin.create_invite', {})).rejects.toMatchObject({ code: 'not_registered' })
})

test('takes the first account of an exposed service by setup code, later ones by invite', async () => {
  await using service = await serve(['--expose'])
  const { event, code } = await service.line()
  expect([event, code]).toEqual(['setup_code', expect.stringMatching(/^[\w-]{43}$/)])
  const { url } = service
  expect(await register(url, 'ada')).toEqual([403, 'invite_required'])
  expect(await register(url, 'ada', { invite: 'wrong' })).toEqual([403, 'invite_invalid'])
  expect(await register(url, 'ada', { invite: code })).toEqual([201, undefined])
  expect(await register(url, 'bob', { invite: code })).toEqual([403, 'invite_invalid'])
  expect(await register(url, 'bob')).toEqual([403, 'invite_required'])
  expect(await service.stop()).not.toContain(code)
})

test('voids the setup code after ten wrong ones, and prints a new one at each start', async () => {
  const logged: string[] = []
  const log = createLogger({ level: 'trace', stream: { write: (line) => void logged.push(line) } })
  const exposed = { ...unset, expose: true }
  await using running = await runApp({ unregistered: true, config: exposed, log })
  const code = running.app.identity.setupCode()
  for (let tries = 0; tries < 10; tries++) {
    expect(await register(running.url, 'ada', { invite: `wrong ${tries}` })).toEqual([403, 'invite_invalid'])
  }
  expect(running.app.identity.setupCode()).toBeNull()
  expect(await register(running.url, 'ada', { invite: code })).toEqual([403, 'invite_invalid'])
  await using again = await running.restart()
  const next = again.app.identity.setupCode()
  expect(next).not.toBe(code)
  expect(await register(again.url, 'ada', { invite: next })).toEqual([201, undefined])
  expect(again.app.identity.setupCode()).toBeNull()
  expect(logged.join('\n')).not.toContain(code)
})

test('counts a service behind a proxy as exposed, and warns about an open one without a setup code', async () => {
  for (const config of [{ trustProxy: ['127.0.0.1'] }, { allowedHosts: ['copse.test'] }]) {
    await using running = await runApp({ unregistered: true, config: { ...unset, ...config } })
    expect(await register(running.url, 'ada')).toEqual([403, 'invite_required'])
  }
  const logged: string[] = []
  const log = createLogger({ level: 'warn', stream: { write: (line) => void logged.push(line) } })
  await using running = await runApp({ unregistered: true, log, config: { registration: 'open', expose: true } })
  expect([running.app.identity.setupCode(), logged.join('')]).toEqual([
    null,
    expect.stringContaining('SVC_REGISTRATION=open'),
  ])
  expect(await register(running.url, 'ada')).toEqual([201, undefined])
})

test('checks the body first, then the right to register, then the e-mail', async () => {
  await using running = await runApp({ config: { registration: 'invite' } })
  expect(await register(running.url, 'owner', { password: 'short' })).toEqual([400, 'validation_failed'])
  expect(await register(running.url, 'owner', { password: 'Password1' })).toEqual([400, 'validation_failed'])
  expect(await register(running.url, 'owner')).toEqual([403, 'invite_required'])
  const { code } = await running.client.call('admin.create_invite', {})
  expect(await register(running.url, 'owner', { invite: code })).toEqual([409, 'email_taken'])
})

test('tells a page that greets whether there is an account, and whether one can be made from there', async () => {
  const options = async ({ url }: Pick<RunningApp, 'url'>, headers = {}) =>
    (await (await fetch(`${url}/api/v1/auth/options`, { headers })).json()) as unknown
  await using fresh = await runApp({ unregistered: true, config: unset })
  expect(await options(fresh)).toEqual({ registered: false, registration: 'open' })
  await register(fresh.url, 'ada')
  expect(await options(fresh)).toEqual({ registered: true, registration: 'open' })
  // Who comes through a proxy can be anyone.
  expect(await options(fresh, { 'x-forwarded-for': '10.0.0.1' })).toEqual({ registered: true, registration: 'code' })
  await using exposed = await runApp({ unregistered: true, config: { ...unset, expose: true } })
  expect(await options(exposed)).toEqual({ registered: false, registration: 'code' })
  await using desktop = await runApp({ unregistered: true, config: { ...unset, startedAs: 'desktop' } })
  expect(await options(desktop)).toEqual({ registered: false, registration: 'closed' })
  await using closed = await runApp({ config: { registration: 'closed' } })
  expect(await options(closed)).toEqual({ registered: true, registration: 'closed' })
})
