import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { agentBinary } from '../../agents/agent-binaries.ts'
import { scripted, startModelServer } from '../../fakes/model-server.ts'
import { createTestRepository, testGitEnvironment } from '../../helpers/git-repository.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { openBrowser, openPage } from '../browser/board-page.ts'
import { timeTo } from '../browser/time-to.ts'
import { format, spreadOf } from '../measure.ts'
import { usageOf } from '../process-usage.ts'
import { copse } from './copse.ts'
import { kanban, kanbanProgram } from './kanban.ts'
import type { Contestant, NewTask, Side } from './side.ts'

const contestants = [copse, kanban] as const
/** Interleaved, so that a slow minute slows both. */
const rounds = 5
const tasks = 1_000

type Values = Map<string, number[]>

/** What differs between the two, and so what a ratio does not say. */
const notes = `The ratio is Cline Kanban / Copse, the median of ${rounds} rounds in which both took turns: above 1 Copse is faster or smaller.
- Both are started by Node on an empty home; Copse's start writes a database, Kanban's nothing.
- A creation: Copse commits a task to SQLite and announces it by an event; Kanban's page reads the whole board and writes all of it back to a JSON file.
- A board: Copse sends the first cards of each column with the counts, Kanban every card. "every task" is all of them on both sides.
- First file: Copse runs Claude Code without a terminal, in a worktree with its branch; Kanban runs its terminal interface, in a detached worktree. The model is scripted and answers at once.
- Memory is that of the service's own process; the agents are programs of their own on both sides.
- Answers are asked for as a browser asks (gzip, deflate, br).`

await kanbanProgram()
await using opened = new AsyncDisposableStack()
const browser = opened.use(await openBrowser())
const model = opened.use(await startModelServer({ apiKey: 'scripted' }))
const results = new Map(contestants.map(({ name }) => [name, new Map() as Values]))
for (let round = 0; round < rounds; round++) {
  for (const contestant of contestants) {
    console.error(`round ${round + 1} of ${rounds}: ${contestant.name}`)
    for (const [job, value] of await play(contestant, round)) {
      const values = results.get(contestant.name) ?? new Map<string, number[]>()
      values.set(job, [...(values.get(job) ?? []), value])
    }
  }
}
const table = tableOf(results)
const report = {
  at: new Date().toISOString(),
  node: process.version,
  cpus: cpus().map((cpu) => cpu.model),
  results: plain(results),
}
await mkdir(join(projectRoot, 'test-results'), { recursive: true })
await writeFile(join(projectRoot, 'test-results', 'peers.json'), `${JSON.stringify(report, null, 2)}\n`)
console.log(`${table}\n\n${notes}`)

/** All jobs once, on a start of its own. */
async function play(contestant: Contestant, round: number): Promise<readonly (readonly [string, number])[]> {
  await using stack = new AsyncDisposableStack()
  const repository = stack.use(await createTestRepository())
  const home = await mkdtemp(join(tmpdir(), 'copse-bench-agents-'))
  stack.defer(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  const environment = await agentEnvironment(home, repository.path)
  const values: (readonly [string, number])[] = []
  const timed = async <T>(job: string, work: () => Promise<T>): Promise<T> => {
    const since = performance.now()
    const result = await work()
    values.push([job, performance.now() - since])
    return result
  }
  const begun = performance.now()
  const side = stack.use(await contestant.open(repository.path, environment))
  values.push(['start to listening, ms', side.listeningAt - begun])
  const memory = async (job: string) => values.push([job, (await usageOf(side.pid)).memory / 1024 ** 2])
  // What a start leaves to do is done by then.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  await memory('memory idle, MB')
  await agents(side, round, timed, memory)
  await timed(`create ${tasks} tasks at once, ms`, () =>
    side.createMany(Array.from({ length: tasks }, (_, number) => plainTask(number))),
  )
  for (let number = 0; number < 10; number++) {
    await timed('create a task over HTTP, ms', () => side.create(plainTask(tasks + number)))
    const bytes = await timed(`board of ${tasks} tasks, ms`, () => side.board())
    const all = await timed(`every task of ${tasks}, ms`, () => side.everyTask())
    if (number === 0)
      values.push([`board of ${tasks} tasks, kB`, bytes / 1_000], [`every task of ${tasks}, kB`, all / 1_000])
  }
  values.push(...(await pageOf(side)))
  await timed('create a task by the command line, ms', () => contestant.createByCommand(side, plainTask(tasks + 10)))
  return mediansOf(values)
}

/** The page with all tasks, in a browser that has kept nothing. */
async function pageOf({ page: { url, ready, signIn } }: Side): Promise<readonly (readonly [string, number])[]> {
  await using page = await openPage(browser)
  await signIn(page)
  let requests = 0
  page.page.on('request', (request) => (requests += request.url().startsWith('http') ? 1 : 0))
  const { painted, interactive } = await timeTo(page, url, ready)
  // What it fetches after the first cards is part of opening it.
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  return [
    ['first paint of the page, ms', painted],
    [`first cards of ${tasks}, ms`, interactive],
    ['requests of the page', requests],
  ]
}

function plainTask(number: number): NewTask {
  return {
    title: `Rate-limit the deliveries of tenant ${number}`,
    prompt: 'What is asked for here takes a sentence or two, as most tasks do.\n\n- It works\n- It is tested',
  }
}

/** Four agents one after the other, each timed to its first file, and the memory while all of them wait for their model. */
async function agents(
  side: Side,
  round: number,
  timed: <T>(job: string, work: () => Promise<T>) => Promise<T>,
  memory: (job: string) => Promise<unknown>,
): Promise<void> {
  const begun: string[] = []
  for (let number = 0; number < 4; number++) {
    const words = `Side ${side.pid}, round ${round}, agent ${number}: write the file.`
    const steps = [{ write: { path: 'first.txt', content: 'first\n' } }, { say: 'Done.', delay: 60_000 }]
    const task = await side.create({ title: `Agent ${number}`, prompt: scripted(words, steps) })
    begun.push(task)
    await timed('first file of Claude Code, ms', async () => {
      await side.start(task)
      await model.waitForCall(({ index, said }) => index === 1 && said.includes(words))
    })
    if ((await readFile(await side.fileOf(task, 'first.txt'), 'utf8')) !== 'first\n')
      throw new Error('The file is not what was written.')
  }
  await memory('memory with four agents, MB')
  for (const task of begun) await side.drop(task)
}

/** One value a job and round. */
function mediansOf(values: readonly (readonly [string, number])[]): readonly (readonly [string, number])[] {
  return [...Map.groupBy(values, ([job]) => job)].map(([job, all]) => [
    job,
    spreadOf(all.map(([, value]) => value)).median,
  ])
}

/** A home in which Claude Code has been started before and the repository is trusted; nothing asks the network. */
async function agentEnvironment(folder: string, repository: string): Promise<Readonly<Record<string, string>>> {
  const bin = join(folder, 'bin')
  const config = join(folder, '.claude')
  await mkdir(bin)
  await mkdir(config)
  await symlink(await agentBinary('claude-code'), join(bin, 'claude'))
  await writeFile(
    join(config, '.claude.json'),
    JSON.stringify({
      hasCompletedOnboarding: true,
      theme: 'dark',
      bypassPermissionsModeAccepted: true,
      projects: { [repository]: { hasTrustDialogAccepted: true } },
      customApiKeyResponses: { approved: ['scripted'], rejected: [] },
    }),
  )
  await writeFile(join(config, 'settings.json'), JSON.stringify({ skipDangerousModePermissionPrompt: true }))
  return {
    ...testGitEnvironment,
    CLAUDE_BINARY: join(bin, 'claude'),
    CLAUDE_CONFIG_DIR: config,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'scripted',
    ANTHROPIC_AUTH_TOKEN: '',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    ...(process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}),
  }
}

function tableOf(all: ReadonlyMap<string, Values>): string {
  const [ours, peer] = contestants.map(({ name }) => all.get(name) ?? new Map<string, number[]>())
  const spread = (values: readonly number[]) => {
    const { median, min, max } = spreadOf(values)
    return `${format(median)} (${format(min)}–${format(max)})`
  }
  const head = ['', copse.name, kanban.name, 'ratio']
  const lines = [...(ours ?? [])].map(([job, values]) => {
    const others = peer?.get(job) ?? []
    return [job, spread(values), spread(others), spread(values.map((value, round) => (others[round] ?? NaN) / value))]
  })
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((cells) => cells[column]?.length ?? 0)))
  return [head, ...lines]
    .map((cells) =>
      cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function plain(all: ReadonlyMap<string, Values>): object {
  return Object.fromEntries([...all].map(([name, values]) => [name, Object.fromEntries(values)]))
}
