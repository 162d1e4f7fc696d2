import { readFile } from 'node:fs/promises'
import { extname, resolve, sep } from 'node:path'
import { protocol } from 'electron'
import { pagePolicy } from '../platform/config/page-policy.ts'
import { appOrigin } from './app-origin.ts'
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
}

/** Registers the scheme as a web origin. Call only before Electron is ready. */
export function registerAppScheme(): void {
  protocol.registerSchemesAsPrivileged([
    { scheme: appOrigin.scheme, privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true } },
  ])
}

/** Serves the built page from `webRoot`. */
export function serveApp(webRoot: string): void {
  protocol.handle(appOrigin.scheme, (request) => answer(webRoot, request))
}

/** Returns a file below `webRoot`, or 404, also for every path that leads out of it. */
async function answer(webRoot: string, request: Pick<Request, 'method' | 'url'>): Promise<Response> {
  const url = new URL(request.url)
  const file = url.host === appOrigin.host && request.method === 'GET' ? fileFor(webRoot, url.pathname) : null
  const content = file === null ? null : await readIfThere(file)
  if (file === null || content === null) return new Response('Not found', { status: 404 })
  return new Response(content, {
    headers: {
      'content-type': types[extname(file)] ?? 'application/octet-stream',
      'content-security-policy': pagePolicy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })
}

function fileFor(webRoot: string, pathname: string): string | null {
  const path = decode(pathname)
  if (path === null || path.includes('\0')) return null
  const file = resolve(webRoot, `.${path === '/' ? '/index.html' : path}`)
  return file.startsWith(resolve(webRoot) + sep) ? file : null
}

function decode(pathname: string): string | null {
  try {
    return decodeURIComponent(pathname)
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

async function readIfThere(file: string): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    return new Uint8Array(await readFile(file))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'ENOTDIR') return null
    throw error
  }
}
