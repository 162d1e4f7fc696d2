import { resolve } from 'node:path'
import { createApp } from '../../src-main/compose.ts'
import { projectRoot } from './project-root.ts'

// The application as a process of its own, so that a test can kill it. Says where it listens and runs until then.
const [dataDir = '', cleanupDelaySeconds = '86400'] = process.argv.slice(2)
const app = await createApp({
  dataDir,
  host: '127.0.0.1',
  port: 0,
  workspaceRoot: resolve(dataDir, 'workspaces'),
  cleanupDelaySeconds: Number(cleanupDelaySeconds),
  bcryptCost: 4,
  registration: 'open',
  logLevel: 'silent',
  webRoot: null,
  workflowsDir: resolve(projectRoot, 'workflows'),
  migrationsDir: resolve(projectRoot, 'src-main/store/migrations'),
  version: '0.0.0-test',
})
process.once('SIGTERM', () => void app.close().then(() => process.exit(0)))
const { url } = await app.listen()
process.stdout.write(`${JSON.stringify({ event: 'listening', url })}\n`)
