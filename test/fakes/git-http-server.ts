import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { testGitEnvironment } from '../helpers/git-repository.ts'

const execute = promisify(execFile)

export interface SeenGitRequest {
  readonly method: string
  /** Without the prefix, as `/acme/shop.git/info/refs?service=git-receive-pack`. */
  readonly url: string
  readonly authorization: string | null
}

export type GitAnswer = (request: IncomingMessage, response: ServerResponse) => void

/** Real repositories behind real `git http-backend`, with the sign-in and the refusals of a forge. */
export interface GitHosting extends AsyncDisposable {
  /** The folder of the bare repositories. */
  readonly root: string
  /** Tokens that may push, as the password of any user. */
  readonly tokens: Set<string>
  /** User names that go with a token; null: any. */
  users: ReadonlySet<string> | null
  /** Whether a repository can be read without a token. */
  isPublic: boolean
  readonly requests: SeenGitRequest[]
  /** Called first for every request; its result is the answer, null leaves that to git. */
  instead: ((request: SeenGitRequest) => GitAnswer | null) | null
  /** Git does what such a request asks for, but the connection ends without its answer. */
  dropsAnswer: (request: SeenGitRequest) => boolean
  /** Takes all requests below its prefix; returns false for others, without an answer. */
  handle(request: IncomingMessage, response: ServerResponse): boolean
  /** Creates an empty bare repository, as `acme/shop`; returns its folder. */
  create(name: string): Promise<string>
  /** Writes a hook of a repository, a shell script without its first line; what it prints the pusher sees. */
  hook(name: string, hook: 'pre-receive' | 'update' | 'post-receive', script: string): Promise<void>
  /** Runs git in a repository. */
  git(name: string, args: readonly string[]): Promise<string>
  /** Returns all refs of a repository with their commits. */
  refs(name: string): Promise<Readonly<Record<string, string>>>
}

/** Creates repositories without a server of their own, for a fake forge that has them below `prefix` (as `/git`). */
export async function createGitHosting({ prefix = '' }: { readonly prefix?: string } = {}): Promise<GitHosting> {
  const root = await mkdtemp(join(tmpdir(), 'copse-git-hosting-'))
  const folderOf = (name: string) => join(root, `${name}.git`)
  const git: GitHosting['git'] = async (name, args) => {
    const env = { ...process.env, ...testGitEnvironment }
    const { stdout } = await execute('git', ['--git-dir', folderOf(name), ...args], { env })
    return stdout.trimEnd()
  }
  const running = new Set<() => void>()
  const hosting: GitHosting = {
    root,
    tokens: new Set(),
    users: null,
    isPublic: false,
    requests: [],
    instead: null,
    dropsAnswer: () => false,
    handle: (incoming, response) => {
      const url = incoming.url ?? '/'
      if (!url.startsWith(`${prefix}/`)) return false
      answer(hosting, { incoming, response, url: url.slice(prefix.length), running })
      return true
    },
    create: async (name) => {
      const folder = folderOf(name)
      await mkdir(dirname(folder), { recursive: true })
      await execute('git', ['init', '--quiet', '--bare', '--initial-branch=main', folder], {
        env: { ...process.env, ...testGitEnvironment },
      })
      return folder
    },
    hook: async (name, hook, script) => {
      const file = join(folderOf(name), 'hooks', hook)
      await writeFile(file, `#!/bin/sh\n${script}\n`)
      await chmod(file, 0o755)
    },
    git,
    refs: async (name) => {
      const listed = await git(name, ['for-each-ref', '--format=%(refname) %(objectname)'])
      const lines = listed.split('\n').filter(Boolean)
      return Object.fromEntries(lines.map((line) => line.split(' ') as [string, string]))
    },
    [Symbol.asyncDispose]: async () => {
      for (const stop of running) stop()
      await rm(root, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  return hosting
}

export interface GitHttpServer extends GitHosting {
  /** As `http://127.0.0.1:1234`. */
  readonly url: string
}

/** Creates repositories with a server of their own. */
export async function startGitHttpServer(): Promise<GitHttpServer> {
  const hosting = await createGitHosting()
  const server = createServer((request, response) => void hosting.handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const removeHosting = hosting[Symbol.asyncDispose]
  return Object.assign(hosting, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      await removeHosting()
    },
  })
}

/** Answers with a status and a text, which git shows as the server's words. */
export const gitStatus =
  (status: number, text = '', headers: Readonly<Record<string, string>> = {}): GitAnswer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers })
    response.end(text)
  }

/** Leaves a request without an answer. */
export const gitSilence: GitAnswer = (request) => void request.resume()

interface Exchange {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  readonly url: string
  readonly running: Set<() => void>
}

function answer(hosting: GitHosting, exchange: Exchange): void {
  const { incoming, response, url } = exchange
  const authorization = incoming.headers.authorization ?? null
  const seen = { method: incoming.method ?? 'GET', url, authorization }
  hosting.requests.push(seen)
  const instead = hosting.instead?.(seen) ?? null
  if (instead) return instead(incoming, response)
  const user = signedIn(hosting, authorization)
  const isPush = url.includes('git-receive-pack')
  if (user === null && (isPush || !hosting.isPublic || authorization !== null)) {
    return gitStatus(401, 'Sign in first', { 'www-authenticate': 'Basic realm="git"' })(incoming, response)
  }
  runBackend(hosting, { ...exchange, drops: hosting.dropsAnswer(seen) }, user)
}

function signedIn({ tokens, users }: GitHosting, authorization: string | null): string | null {
  const encoded = /^Basic (.+)$/i.exec(authorization ?? '')?.[1]
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? []
  return tokens.has(password) && (users === null || users.has(user)) ? user : null
}

function runBackend(
  hosting: GitHosting,
  { incoming, response, url, running, drops }: Exchange & { readonly drops: boolean },
  user: string | null,
): void {
  const at = new URL(url, 'http://git')
  const header = (name: string) => String(incoming.headers[name] ?? '')
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...testGitEnvironment,
    GIT_PROJECT_ROOT: hosting.root,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROTOCOL: header('git-protocol'),
    PATH_INFO: decodeURIComponent(at.pathname),
    QUERY_STRING: at.search.slice(1),
    REQUEST_METHOD: incoming.method ?? 'GET',
    CONTENT_TYPE: header('content-type'),
    HTTP_CONTENT_ENCODING: header('content-encoding'),
    REMOTE_ADDR: '127.0.0.1',
    ...(incoming.headers['content-length'] !== undefined && { CONTENT_LENGTH: incoming.headers['content-length'] }),
    ...(user !== null && { REMOTE_USER: user || 'token' }),
  }
  const backend = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'inherit'], detached: true })
  const stop = () => {
    if (backend.pid !== undefined && backend.exitCode === null) process.kill(-backend.pid, 'SIGKILL')
  }
  running.add(stop)
  backend.once('close', () => running.delete(stop))
  // Who goes away in the middle leaves both ends broken.
  for (const stream of [backend.stdin, response, incoming]) stream.on('error', () => undefined)
  incoming.pipe(backend.stdin)
  if (drops) backend.stdout.resume().on('end', () => response.destroy())
  else passOn(backend.stdout, response)
}

/** Sends what a CGI program says: header lines, an empty line, and the body. */
function passOn(output: NodeJS.ReadableStream, response: ServerResponse): void {
  let head: Buffer | null = Buffer.alloc(0)
  output.on('data', (chunk: Buffer) => {
    if (head === null) return void response.write(chunk)
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    const headers = head
      .subarray(0, end)
      .toString('latin1')
      .split('\r\n')
      .map((line) => line.split(/:\s*/, 2) as [string, string])
    const status = headers.find(([name]) => name.toLowerCase() === 'status')?.[1]
    response.writeHead(Number.parseInt(status ?? '200', 10), Object.fromEntries(headers))
    response.write(head.subarray(end + 4))
    head = null
  })
  output.on('end', () => response.end())
}
