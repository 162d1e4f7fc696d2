import type { Sessions } from './session.ts'

const jitter = 'Retry with full jitter and honour Retry-After'
const lease = 'Lease deliveries so two workers never send the same event'

const backoffBefore = `  const raw = policy.baseMs * 2 ** attempt
  return Math.min(raw, policy.maxMs)`
const backoffAfter = `  const cap = Math.min(policy.baseMs * 2 ** attempt, policy.maxMs)
  return Math.floor(random() * cap)`

/** What the coder does in each of the demo's tasks. */
export const coderSessions: Sessions = {
  [jitter]: [
    [
      { say: 'I start with how a retry is planned today, then the tests that hold it.' },
      { read: 'src/delivery/backoff.ts' },
      { read: 'src/delivery/retry.ts' },
      { read: 'test/delivery/backoff.test.ts' },
      {
        search: 'nextDelay\\(',
        found: 'src/delivery/backoff.ts:4\nsrc/delivery/retry.ts:12\ntest/delivery/backoff.test.ts:6',
      },
      {
        think:
          'Full jitter takes a random part of the whole cap. The random source has to come in from outside, or the tests cannot hold it. Retry-After comes as seconds or as an HTTP date; both set a floor, and the cap still holds.',
      },
      { edit: 'src/delivery/backoff.ts', from: backoffBefore, to: backoffAfter },
      {
        edit: 'src/delivery/backoff.ts',
        from: 'export function nextDelay(attempt: number, policy: RetryPolicy): number {',
        to: 'export function nextDelay(attempt: number, policy: RetryPolicy, random: () => number): number {',
      },
      {
        write: 'src/delivery/retry-after.ts',
        text: `/** What a Retry-After header asks for, in milliseconds from now; null when it asks for nothing. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  if (header === undefined) return null
  const seconds = Number(header)
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000)
  const date = Date.parse(header)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
`,
      },
      {
        edit: 'src/delivery/retry.ts',
        from: '  return now + nextDelay(delivery.attempt, policy)',
        to: `  const floor = retryAfterMs(response.headers['retry-after'], now) ?? 0
  const delay = nextDelay(delivery.attempt, policy, random)
  return now + Math.min(Math.max(delay, floor), policy.maxMs)`,
      },
      {
        run: 'npm test -- delivery',
        output: ` RUN  v4.0.2

 ✓ test/delivery/retry.test.ts (18 tests) 212ms
 ❯ test/delivery/backoff.test.ts (7 tests, 1 failed) 88ms
   × honours Retry-After given as an HTTP date
     → expected 0 to be 30000`,
        fails: true,
      },
      {
        say: 'The date form is parsed against `Date.now()`, but the test freezes `clock.now()`. The production code should use the injected clock too.',
      },
      {
        write: 'test/delivery/retry-after.test.ts',
        text: `import { expect, test } from 'vitest'
import { retryAfterMs } from '../../src/delivery/retry-after.ts'

const now = Date.UTC(2026, 10, 22)

test.each([
  [undefined, null],
  ['120', 120_000],
  ['Sun, 22 Nov 2026 00:00:30 GMT', 30_000],
  ['soon', null],
])('%s asks for %s', (header, expected) => {
  expect(retryAfterMs(header, now)).toBe(expected)
})
`,
      },
      { running: 'npm test -- delivery backoff' },
    ],
  ],
  [lease]: [
    [
      { say: 'Two workers may read the same due row. A lease in the row itself, taken in one statement, is enough.' },
      { read: 'src/delivery/worker.ts' },
      {
        write: 'src/store/lease.ts',
        text: `/** Takes what is due for one worker alone. */
export const takeLease = \`
update deliveries set lease = :worker, lease_until = :until
where id = (select id from deliveries where due_at <= :now and lease.expires < :now limit 1)
returning *\`
`,
      },
      { commit: 'Lease a delivery to one worker' },
    ],
    [
      {
        say: 'The lease ran out while a slow endpoint was still answering. It is renewed now while a delivery is under way.',
      },
      {
        edit: 'src/store/lease.ts',
        from: 'returning *`',
        to: 'returning *`\n\nexport const renewLease = `\nupdate deliveries set lease_until = :until where id = :id and lease = :worker`',
      },
      { commit: 'Renew the lease while a delivery is under way' },
    ],
    [
      { say: 'The lease is now given up only after the outcome is written.' },
      {
        edit: 'src/delivery/worker.ts',
        from: '    await send(delivery, signal)\n    await store.done(delivery.id)',
        to: '    using lease = keepLease(store, delivery, signal)\n    const response = await send(delivery, lease.signal)\n    await store.finish(delivery.id, lease.id, response)',
      },
      {
        write: 'test/store/lease.test.ts',
        text: `import { expect, test } from 'vitest'

test('two workers never hold one delivery', async () => {
  const store = await openStore([due('a'), due('b')])
  const taken = await Promise.all([store.take('one'), store.take('two')])
  expect(new Set(taken.map(({ id }) => id)).size).toBe(2)
})
`,
      },
      { commit: 'Give the lease up after the outcome is written' },
    ],
  ],
  'Postgres store behind the Store interface': [
    [
      { say: 'The interface first: what SQLite does in one statement has to be one statement in Postgres too.' },
      { read: 'src/store/store.ts' },
      { read: 'src/store/schema.ts' },
      {
        write: 'src/store/postgres/pool.ts',
        text: "import { Pool } from 'pg'\n\nexport const pool = new Pool({ max: 8 })\n",
      },
      {
        write: 'src/store/postgres/store.ts',
        text: Array.from({ length: 60 }, (_, n) => `export const statement${n} = 'select ${n} from deliveries'\n`).join(
          '',
        ),
      },
      { running: 'npm test -- store/postgres' },
    ],
  ],
  'Move delivery attempts to a partitioned table': [
    [
      { say: 'I read the schema before I propose a plan.' },
      { read: 'src/store/schema.ts' },
      { running: 'npm run bench' },
    ],
  ],
  'Tenant-scoped API keys': [
    [
      {
        say: 'Plan: 1. a `tenant_id` on keys, filled from the owner; 2. the check in `authenticate`, with its error; 3. a page to make and revoke keys. Two migrations, no downtime. Approve it, or send it back with what is missing.',
      },
    ],
  ],
  'Import endpoints from Svix export files': [
    [
      { read: 'src/store/schema.ts' },
      {
        write: 'src/import/svix.ts',
        text: 'export interface SvixEndpoint {\n  readonly url: string\n  readonly version: 1 | 2\n}\n',
      },
      { commit: 'Read endpoints from an export' },
      {
        say: 'Their exports come in two versions that differ in how secrets are kept. Which of them should be supported: only version 2, or both?',
      },
    ],
  ],
  'Redact Authorization headers in delivery logs': [
    [
      { edit: 'src/log.ts', from: "?? 'info' })", to: "?? 'info', redact: ['*.headers.authorization'] })" },
      { commit: 'Redact Authorization headers' },
      { say: 'No header with a secret reaches the log any more.' },
    ],
  ],
  'Prometheus histogram for delivery latency': [
    [
      {
        write: 'src/metrics.ts',
        text: "export const latency = histogram('ferry_delivery_seconds', [0.01, 0.1, 1, 10])\n",
      },
      { write: 'bench/slow.ts', text: 'export const slow = true\n' },
      { commit: 'Count how long deliveries take' },
      { say: 'The histogram is there, and the endpoint `/metrics` serves it.' },
    ],
    [{ read: 'src/metrics.ts' }, { say: 'The bench is as slow without my change: its limit is for another machine.' }],
  ],
  'Split the dashboard bundle by route': [
    [
      { edit: 'dashboard/vite.config.ts', from: 'chunkSizeWarningLimit: 900', to: 'chunkSizeWarningLimit: 300' },
      {
        edit: 'dashboard/routes.ts',
        from: "import Attempts from './Attempts.vue'\n",
        to: "const Attempts = () => import('./Attempts.vue')\n",
      },
      { commit: 'Load each route when it is opened' },
      { say: 'Each route comes when it is opened: 640 KB become 210 KB.' },
    ],
  ],
  ...small('Verify signatures in constant time', 'src/signature.ts', 'export const equal = timingSafeEqual\n'),
  ...small(
    'Close idle keep-alive sockets on reload',
    'src/http/reload.ts',
    'export const reload = (server) => server.closeIdleConnections()\n',
  ),
  ...small(
    'Paginate the attempts list by cursor',
    'src/http/attempts.ts',
    'export const page = (cursor) => store.attempts({ after: cursor, limit: 50 })\n',
  ),
  ...small(
    'Health check reports queue depth',
    'src/http/health.ts',
    'export const health = () => ({ queue: store.depth() })\n',
  ),
  ...small(
    'Schema for Postgres',
    'src/store/postgres/schema.ts',
    'export const schema = `create table deliveries ()`\n',
  ),
  ...small('Migrations for Postgres', 'src/store/postgres/migrate.ts', 'export const migrate = () => undefined\n'),
}

function small(title: string, path: string, text: string): Sessions {
  return { [title]: [[{ write: path, text }, { commit: title }, { say: 'Done, with a test.' }]] }
}

/** What the auditor says of them. */
export const auditorSessions: Sessions = {
  [lease]: [
    [
      { read: 'src/store/lease.ts' },
      {
        verdict: 'fail',
        feedback:
          'The lease is given up before the outcome is written: a worker that dies between the two sends the event twice.',
      },
    ],
    [
      { read: 'src/delivery/worker.ts' },
      {
        verdict: 'pass',
        feedback:
          'The lease outlives the write, renewals stop with the delivery, and the test proves the race. Ready to merge.',
      },
    ],
  ],
}
