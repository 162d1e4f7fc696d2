import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { createClient } from '../../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../../src-shared/client/http-transport.ts'
import { builtFile } from '../../helpers/built.ts'

type Death = 'exception' | 'rejection' | 'fatal'

/** Runs in the service: dies as requested, with every secret in the error. */
const beside = `data:text/javascript,${encodeURIComponent(`
process.on('message', ({ death, secrets }) => {
  const all = secrets.join(' ')
  const statement = Object.assign(new Error('Failed query: insert\\nparams: ' + all), { query: 'insert', params: secrets })
  const error = Object.assign(new Error('Bearer ' + all, { cause: statement }), { secrets, env: process.env })
  if (death === 'exception') setImmediate(() => { throw error })
  if (death === 'rejection') Promise.reject({ secrets, env: process.env })
  if (death === 'fatal') { const kept = []; for (;;) kept.push(new Array(1e5).fill(0).map((_, index) => ({ index }))) }
})`)}`

/** Makes Node write a crash report, where it can. */
const flags = ['--report-on-fatalerror', '--report-uncaught-exception', '--max-old-space-size=128']

async function dieOf(death: Death, folder: string) {
  const args = ['--import', beside, ...flags, `--report-directory=${folder}`]
  const serve = [await builtFile('cli.js'), 'serve', '--json', '--port', '0', '--data-dir', folder]
  const fromEnvironment = 'an environment secret 1357'
  const child = spawn(process.execPath, [...args, ...serve], {
    cwd: folder,
    env: { ...process.env, SVC_BCRYPT_COST: '4', GITEA_TOKEN: fromEnvironment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const exited = once(child, 'exit')
  if (!child.stdout || !child.stderr) throw new Error('It has no output.')
  const said = text(child.stderr)
  const lines = createInterface(child.stdout)
  const [line] = (await once(lines, 'line')) as [string]
  const { url } = JSON.parse(line) as { url: string }
  const client = (token: string | null) => createClient(createHttpTransport({ baseUrl: url, getToken: () => token }))
  const person = { email: 'ada@copse.test', password: 'correct horse 2468', display_name: 'Ada' }
  const session = await client(null).call('auth.register', person)
  const personal = await client(session.access_token).call('auth.create_token', { name: 'ci' })
  const daemon = await client(session.access_token).call('daemons.create', { name: 'Elsewhere' })
  const tokens = [session.access_token, personal.token, daemon.token, fromEnvironment]
  const key = await readFile(join(folder, 'secrets', 'jwt.key'))
  const keyTexts = [key.toString('hex'), key.toString('base64'), key.toString('base64url'), key.join(', ')]
  // Only the place of a value tells that these are secrets: a field, or a statement's parameter.
  const unmarked = [session.refresh_token, person.password, ...keyTexts]
  child.send({ death, secrets: death === 'rejection' ? [...tokens, ...unmarked] : tokens })
  const [code] = (await exited) as [number | null]
  const reports = (await readdir(folder)).filter((name) => name.startsWith('report.'))
  const written = await Promise.all(reports.map((name) => readFile(join(folder, name), 'utf8')))
  const output = [await said, ...written].join('\n')
  return { code, reports, output, found: [...tokens, ...unmarked].filter((secret) => output.includes(secret)) }
}

test.concurrent.for(['exception', 'rejection', 'fatal'] as const)(
  'prints no token, key or secret when the service dies of an unforeseen %s',
  { timeout: 240_000 },
  async (death) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'copse-crash-'))
    const { code, reports, output, found } = await dieOf(death, folder.path)
    expect(found).toEqual([])
    expect(code).not.toBe(0)
    expect(output).toMatch(death === 'fatal' ? /heap out of memory/ : /^copse: unexpected error: /m)
    expect(reports).toEqual([])
  },
)
