import { parseArgs } from 'node:util'
import { findResources } from './platform/config/paths.ts'
import { presentLocally } from './service/present.ts'
import { serve } from './service/serve.ts'

// Runs the app without Electron for the local user: `--open` shows it in a browser window.
const { values } = parseArgs({
  options: { open: { type: 'boolean', default: false }, 'data-dir': { type: 'string' }, port: { type: 'string' } },
})
const program = findResources(import.meta.dirname)
const code = await serve(
  {
    program,
    env: { SVC_LOG_LEVEL: 'warn', ...process.env },
    anyPort: true,
    startedAs: 'desktop',
    dataDir: values['data-dir'],
    port: values.port,
  },
  (service, signal) => Promise.resolve(presentLocally(service, signal, values.open)),
)
process.exit(code)
