import { join, resolve } from 'node:path'
import type { createApp } from '../../../src-main/compose.ts'
import type { createLogger } from '../../../src-main/platform/logging/log.ts'

// The service of some checkout, in a process of its own, so that whoever measures it is not kept waiting with it.
const [root = '', dataDir = ''] = process.argv.slice(2)
const began = performance.now()
const compose = (await import(join(root, 'src-main/compose.ts'))) as { readonly createApp: typeof createApp }
const logging = (await import(join(root, 'src-main/platform/logging/log.ts'))) as {
  readonly createLogger: typeof createLogger
}
const loaded = performance.now()
const app = await compose.createApp(
  {
    dataDir,
    host: '127.0.0.1',
    port: 0,
    workspaceRoot: join(dataDir, 'workspaces'),
    cleanupDelaySeconds: 86_400,
    bcryptCost: 4,
    registration: 'open',
    logLevel: 'silent',
    webRoot: null,
    version: '0.0.0-bench',
    workflowsDir: resolve(root, 'workflows'),
    migrationsDir: resolve(root, 'src-main/store/migrations'),
  },
  { log: logging.createLogger({ level: 'error' }) },
)
const { url } = await app.listen()
process.send?.({ url, start_ms: performance.now() - loaded, load_ms: loaded - began })
process.on('message', () => {
  void app.close().then(() => process.exit(0))
})
