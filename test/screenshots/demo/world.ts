import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createClient, type Client } from '../../../src-shared/client/create-client.ts'
import { createHttpTransport } from '../../../src-shared/client/http-transport.ts'
import { startBuiltService, type BuiltService } from '../../e2e/harness/built-service.ts'
import { startTracker, type FakeTracker } from '../../helpers/fake-tracker.ts'
import { npmStandIn } from './repository.ts'

/** The service in a home of its own, where a few coding agents are installed and somebody has registered. */
export interface World extends AsyncDisposable {
  readonly home: string
  readonly service: BuiltService
  readonly client: Client
  /** Of the first person. */
  readonly token: string
  readonly tracker: FakeTracker
  /** The programs that stand for agents. */
  readonly programs: { readonly coder: string; readonly auditor: string }
}

const agent = join(import.meta.dirname, 'agent.ts')
const found = { codex: 'codex-cli 0.142.0', opencode: '1.4.2', gemini: '0.31.1' }

export async function startWorld(): Promise<World> {
  await using opened = new AsyncDisposableStack()
  const home = await mkdtemp(join(tmpdir(), 'copse-'))
  opened.defer(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  const [bin, notes] = [join(home, 'bin'), join(home, 'notes')]
  for (const folder of [bin, notes, join(home, '.claude')]) await mkdir(folder)
  await writeFile(join(home, '.claude', '.credentials.json'), '{}')
  const program = async (name: string, text: string) => {
    await writeFile(join(bin, name), text, { mode: 0o755 })
    return join(bin, name)
  }
  await program('npm', npmStandIn)
  for (const [name, version] of Object.entries(found)) await program(name, `#!/bin/sh\necho '${version}'\n`)
  const runs = (part: string) => `#!/bin/sh\nexec '${process.execPath}' '${agent}' ${part} '${notes}' "$@"\n`
  const programs = { coder: await program('claude', runs('coder')), auditor: await program('auditor', runs('auditor')) }
  const tracker = opened.use(await startTracker())
  const service = opened.use(
    await startBuiltService({
      dataDir: join(home, 'data'),
      env: {
        HOME: home,
        PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
        SVC_REGISTRATION: 'open',
        // The stand-ins for npm and the agents are in a folder that no contained run may read.
        SVC_CONTAINMENT: 'none',
        FERRY_ISSUES_TOKEN: tracker.token,
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_AUTHOR_NAME: 'Claude Code',
        GIT_AUTHOR_EMAIL: 'agent@ferry.example',
        GIT_COMMITTER_NAME: 'Claude Code',
        GIT_COMMITTER_EMAIL: 'agent@ferry.example',
      },
    }),
  )
  let token: string | null = null
  const client = createClient(createHttpTransport({ baseUrl: service.url, getToken: () => token }))
  const register = (email: string, display_name: string) =>
    client.call('auth.register', { email, display_name, password: 'a long enough password' })
  token = (await register('mara@ferry.example', 'Mara Lind')).access_token
  await register('jon@ferry.example', 'Jon Okafor')
  const owned = opened.move()
  return {
    home,
    service,
    client,
    token,
    tracker,
    programs,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
