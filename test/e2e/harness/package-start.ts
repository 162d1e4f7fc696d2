import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { startDesktop } from './electron-standin/start-desktop.ts'

// node package-start.ts FOLDER: starts a packed app that was unpacked there, checks it, and ends it.
const app = process.argv[2] ?? ''

const env = { SVC_CONTAINMENT: 'auto' }
await using desktop = await startDesktop({ entry: join(app, 'dist', 'main', 'electron.js'), env })
await desktop.page.locator('#app > *').first().waitFor()
const reply = await desktop.page.evaluate<{ ok: boolean }>("window.copse.call('demo.create', {})")
if (!reply.ok) throw new Error(`The packed app makes no project: ${JSON.stringify(reply)}`)
await desktop.page.locator('[data-card]').first().waitFor()

// The demo's agent is contained where the machine can, by a library that is loaded only now.
const run = await desktop.page.evaluate<string>(`(async () => {
  const ask = async (name, input) => (await window.copse.call(name, input)).value
  const { containment } = await ask('system.get', {})
  const [project] = (await ask('projects.list', {})).items
  const [task] = (await ask('tasks.list', { project_id: project.id })).items
  for (;;) {
    const [run] = (await ask('tasks.executions', { task_id: task.id })).items
    const wanted = containment.available ? 'worktree' : 'none'
    if (run?.finished_at) return run.status + (run.containment === wanted ? '' : ', held to ' + run.containment)
    await new Promise((later) => setTimeout(later, 100))
  }
})()`)
if (run !== 'succeeded') throw new Error(`The demo's agent in the packed app: ${run}`)

// Modules that load later: a pseudo-terminal, passwords, and the updater, which only Electron can start.
const require = createRequire(pathToFileURL(join(app, 'package.json')))
for (const name of ['node-pty', 'bcrypt', 'electron-updater/package.json']) require(name)

// What builds dev containers is started in a thread, from its own file.
const cli = join(dirname(require.resolve('@devcontainers/cli/package.json')), 'dist/spec-node/devContainersSpecCLI.js')
const [ended] = (await once(new Worker(cli, { argv: ['--version'], stdout: true }), 'exit')) as [number]
if (ended !== 0) throw new Error(`The program for dev containers in the packed app ended with ${ended}.`)

const code = await desktop.quit()
if (code !== 0 || desktop.log() !== '') throw new Error(`The packed app ended with ${code}: ${desktop.log()}`)
