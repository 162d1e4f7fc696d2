/** A service that delivers webhooks: the repository that the made-up tasks are about. */
export const ferryFiles: Readonly<Record<string, string>> = {
  'README.md': '# ferry\n\nDelivers webhooks: at least once, in order, with retries.\n',
  'package.json': `{
  "name": "ferry",
  "type": "module",
  "scripts": {
    "lint": "eslint .",
    "typecheck": "tsc --noEmit",
    "test": "vitest run",
    "bench": "node bench/latency.ts"
  },
  "dependencies": {
    "better-sqlite3": "12.2.0",
    "fastify": "5.6.0",
    "pino": "10.1.0"
  }
}
`,
  'package-lock.json': '{ "name": "ferry", "lockfileVersion": 3, "packages": {} }\n',
  'src/delivery/policy.ts': `/** How often and how long a delivery is tried. */
export interface RetryPolicy {
  readonly baseMs: number
  readonly maxMs: number
  readonly attempts: number
}

export const standard: RetryPolicy = { baseMs: 500, maxMs: 30_000, attempts: 8 }
`,
  'src/delivery/backoff.ts': `import type { RetryPolicy } from './policy.ts'

/** The pause before the next attempt, in milliseconds. */
export function nextDelay(attempt: number, policy: RetryPolicy): number {
  const raw = policy.baseMs * 2 ** attempt
  return Math.min(raw, policy.maxMs)
}
`,
  'src/delivery/retry.ts': `import { nextDelay } from './backoff.ts'
import type { RetryPolicy } from './policy.ts'
import type { Delivery, Response } from './types.ts'

const final = new Set([400, 401, 403, 404, 410])

/** When a delivery is tried again; null when it is not. */
export function retryAt(delivery: Delivery, response: Response, policy: RetryPolicy, now: number): number | null {
  if (final.has(response.status)) return null
  if (delivery.attempt >= policy.attempts) return null
  return now + nextDelay(delivery.attempt, policy)
}
`,
  'src/delivery/types.ts': `export interface Delivery {
  readonly id: string
  readonly endpoint: string
  readonly attempt: number
  readonly payload: Uint8Array
}

export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}
`,
  'src/delivery/worker.ts': `import type { Store } from '../store/store.ts'
import { send } from './send.ts'

/** Takes what is due, one after the other, until it is told to stop. */
export async function work(store: Store, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const delivery = await store.nextDue()
    if (!delivery) return
    await send(delivery, signal)
    await store.done(delivery.id)
  }
}
`,
  'src/delivery/send.ts': `import type { Delivery, Response } from './types.ts'

export async function send(delivery: Delivery, signal: AbortSignal): Promise<Response> {
  const { status, headers } = await fetch(delivery.endpoint, { method: 'POST', body: delivery.payload, signal })
  return { status, headers: Object.fromEntries(headers) }
}
`,
  'src/store/store.ts': `import type { Delivery } from '../delivery/types.ts'

export interface Store {
  nextDue(): Promise<Delivery | null>
  done(id: string): Promise<void>
}
`,
  'src/store/schema.ts': `export const schema = \`
create table deliveries (
  id text primary key,
  endpoint text not null,
  attempt integer not null default 0,
  due_at integer not null
) strict;
create index deliveries_due on deliveries (due_at);
\`
`,
  'src/log.ts': `import pino from 'pino'

export const log = pino({ level: process.env.LOG_LEVEL ?? 'info' })
`,
  'dashboard/vite.config.ts': `import { defineConfig } from 'vite'

export default defineConfig({
  build: { outDir: '../dist/dashboard', chunkSizeWarningLimit: 900 },
})
`,
  'dashboard/routes.ts': `import Attempts from './Attempts.vue'
import Endpoints from './Endpoints.vue'

export const routes = [
  { path: '/', component: Endpoints },
  { path: '/attempts', component: Attempts },
]
`,
  'test/delivery/backoff.test.ts': `import { expect, test } from 'vitest'
import { nextDelay } from '../../src/delivery/backoff.ts'

test('the pause doubles', () => {
  const policy = { baseMs: 100, maxMs: 1_000, attempts: 8 }
  expect([0, 1, 2, 3].map((attempt) => nextDelay(attempt, policy))).toEqual([100, 200, 400, 800])
})
`,
}

/** Stands for npm, so that the checks of the made-up tasks say what such checks say, and take a moment. */
export const npmStandIn = `#!/bin/sh
case "$*" in
  ci)
    case "$SVC_TASK_TITLE" in
      'Cap payload'*)
        echo 'npm error code ERESOLVE' >&2
        echo 'npm error While resolving: ferry@2.4.0' >&2
        echo 'npm error Found: fastify@5.6.0' >&2
        echo 'npm error Could not resolve dependency: peer fastify@"^4.0.0" from @fastify/raw-body@4.3.0' >&2
        exit 1 ;;
    esac
    echo 'added 214 packages, and audited 215 packages in 2s' ;;
  'run lint') printf '> ferry@2.4.0 lint\\n> eslint .\\n\\n' ;;
  'run typecheck') printf '> ferry@2.4.0 typecheck\\n> tsc --noEmit\\n\\n' ;;
  'run bench')
    printf '> ferry@2.4.0 bench\\n> node bench/latency.ts\\n\\n'
    if [ -e bench/slow.ts ]; then
      echo 'p50  1.9 ms'; echo 'p99  48.2 ms  (limit 20 ms)'
      echo 'bench: p99 is over its limit' >&2; exit 1
    fi
    echo 'p50  1.8 ms'; echo 'p99  11.4 ms  (limit 20 ms)' ;;
  'run e2e') printf '> ferry@2.4.0 e2e\\n> playwright test\\n\\nRunning 24 tests using 2 workers\\n'; exec tail -f /dev/null ;;
  test*)
    printf '> ferry@2.4.0 test\\n> vitest run\\n\\n RUN  v4.0.2\\n\\n'
    if grep -qs 'lease.expires' src/store/lease.ts && ! grep -qs 'renew' src/store/lease.ts; then
      printf ' \\033[32m✓\\033[39m test/delivery/backoff.test.ts (7 tests) 88ms\\n'
      printf ' \\033[31m❯\\033[39m test/store/lease.test.ts (6 tests, \\033[31m1 failed\\033[39m) 240ms\\n'
      printf '   \\033[31m×\\033[39m two workers never hold one delivery\\n'
      printf '     \\033[31m→ expected 1 to be 2\\033[39m\\n\\n Tests  1 failed | 24 passed (25)\\n'
      exit 1
    fi
    printf ' \\033[32m✓\\033[39m test/delivery/backoff.test.ts (7 tests) 88ms\\n'
    printf ' \\033[32m✓\\033[39m test/delivery/retry.test.ts (18 tests) 212ms\\n\\n Tests  25 passed (25)\\n' ;;
  *) echo '10.9.0' ;;
esac
`
