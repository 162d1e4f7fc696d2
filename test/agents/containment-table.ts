import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { agentBinary, pinnedAgent } from './agent-binaries.ts'
import { runCell, type CellReport, type CellRequest, type CellResult } from './containment-cell.ts'
import { tracing } from './file-trace.ts'
import { tableAgents, type TableAgent } from './table-agents.ts'

/**
 * Prints a table of real agents in the containment that new agents get, each in an empty home and in one where it has
 * worked before. `--agent NAME` (repeatable) chooses, `--trace` also lists files by strace, `--shell` leaves the
 * variables of the model to Copse's own environment, `--write PATH` (repeatable) lets runs write a further path,
 * `--json FILE` saves all.
 */
const { values: options } = parseArgs({
  options: {
    agent: { type: 'string', multiple: true },
    trace: { type: 'boolean', default: false },
    shell: { type: 'boolean', default: false },
    write: { type: 'string', multiple: true, default: [] },
    json: { type: 'string' },
    cell: { type: 'string' },
  },
})

/** Contained runs can't see the temporary folder. */
const within = process.platform === 'win32' ? tmpdir() : '/var/tmp'

interface Row {
  readonly agent: string
  readonly program: string
  readonly home: CellRequest['home']
  readonly report: CellReport | null
  readonly problem: string | null
}

/** Measures in a process of its own, because the home folder of a process is one. */
async function measure(agent: TableAgent, home: CellRequest['home']): Promise<Row> {
  const { package: of, version } = pinnedAgent(agent.program)
  const program = `${of} ${version}`
  const binary = await agentBinary(agent.program)
  const folder = await mkdtemp(join(within, 'copse-table-'))
  try {
    const [bin, traces, own] = ['bin', 'traces', 'home'].map((name) => join(folder, name)) as [string, string, string]
    for (const one of [bin, traces, own]) await mkdir(one)
    const link = join(bin, basename(binary))
    if (options.trace) {
      await writeFile(link, tracing(binary, traces))
      await chmod(link, 0o755)
    } else await symlink(binary, link)
    const variables = options.shell ? 'shell' : 'agent'
    const common = { traces: options.trace ? traces : null, variables, write: options.write } as const
    const request: CellRequest = { agent: agent.name, home, ...common }
    const PATH = [bin, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')
    const env = { PATH, HOME: own, USER: 'person', SHELL: '/bin/sh', LANG: 'C.UTF-8', TERM: 'xterm-256color' }
    const file = join(folder, 'report.json')
    const { code, errors } = await run(['--cell', JSON.stringify(request), '--json', file], env)
    const report = existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as CellReport) : null
    const problem = report === null ? `exit ${code}: ${errors.trim().slice(-2_000)}` : null
    return { agent: agent.name, program, home, report, problem }
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function run(args: readonly string[], env: NodeJS.ProcessEnv) {
  return new Promise<{ readonly code: number | null; readonly errors: string }>((resolve, reject) => {
    const child = spawn(process.execPath, [import.meta.filename, ...args], {
      cwd: '/',
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 300_000,
    })
    let errors = ''
    child.stderr.on('data', (data: Buffer) => (errors += data.toString('utf8')))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, errors }))
  })
}

const worked = ({ status, hasFile, hasShell }: CellResult): boolean => status === 'succeeded' && hasFile && hasShell
const mark = (is: boolean): string => (is ? 'yes' : '**no**')
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim()

/** Groups paths below the home folder by their first folders; what follows `.tmp` or `.lock` in a name is random. */
function folders(paths: readonly string[]): string {
  const top = paths.map((path) => {
    const parts = path
      .replace(/ \(.*|\/$/, '')
      .replace(/(?<=\.(?:tmp|lock))[^/]*$/, '…')
      .split('/')
    return parts.slice(0, /^\.(?:config|cache)$/.test(parts[1] ?? '') ? 3 : parts[1] === '.local' ? 4 : 2).join('/')
  })
  return [...new Set(top)].join(', ')
}

function lineOf({ agent, home, report, problem }: Row): string {
  if (report === null) return `| ${agent} | ${home} | ${cell(problem ?? '')} |`
  const { before, result } = report
  const base = before === null ? '' : worked(before) ? `yes, ${before.seconds} s` : `**no**: ${before.status}`
  const columns = [
    ...[agent, home, base, mark(worked(result)), `${result.status} ${result.exit_code ?? ''}`, mark(result.hasFile)],
    ...[mark(result.hasShell), `${result.seconds} s`, result.task, result.annotation ?? '', result.denied.join(', ')],
    ...[folders(result.changed), folders(result.trace?.refused ?? [])],
  ]
  return `| ${columns.map(cell).join(' | ')} |`
}

const titles = ['Agent', 'Home', 'Uncontained', 'Works', 'Run', 'File', 'Shell', 'Time', 'Task', 'What the user sees']
const more = ['Denied entries', 'Changed in home', 'Refused in home (trace)']

async function main(): Promise<void> {
  const chosen = tableAgents.filter(({ name }) => options.agent?.includes(name) ?? true)
  const rows: Row[] = []
  for (const agent of chosen) {
    for (const home of ['fresh', 'used'] as const) {
      const row = await measure(agent, home)
      rows.push(row)
      console.error(lineOf(row))
      if (options.json !== undefined) await writeFile(options.json, JSON.stringify(rows, null, 1))
    }
  }
  const head = [...titles, ...more]
  console.log([`| ${head.join(' | ')} |`, `|${head.map(() => ' --- |').join('')}`, ...rows.map(lineOf)].join('\n'))
  const failed = rows.filter(({ report }) => report === null || !worked(report.result)).length
  console.log(`${rows.length - failed} of ${rows.length} work contained`)
}

if (options.cell === undefined) await main()
else {
  const report = await runCell(JSON.parse(options.cell) as CellRequest)
  await writeFile(options.json ?? '', JSON.stringify(report))
  // A library may still hold a timer.
  process.exit(0)
}
