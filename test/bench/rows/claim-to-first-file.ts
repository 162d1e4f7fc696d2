import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { AgentId, ProjectId } from '../../../src-shared/contract/ids.ts'
import { agentBinary } from '../../agents/agent-binaries.ts'
import { scripted, startModelServer, type ModelServer } from '../../fakes/model-server.ts'
import { createTestRepository, testGitEnvironment, type TestRepository } from '../../helpers/git-repository.ts'
import { memoryFolder } from '../memory-folder.ts'
import { startProduct, type Product } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const model = 'claude-sonnet-4-5'
const content = 'first\n'

/**
 * From the claim of a task that nobody had before until Claude Code (the version of `npm run test:agents`, fetched when
 * it is not there) has written its first file with its own tool, and tells the scripted model server so. The floor is
 * the same binary, started by hand in a worktree that is ready. A quick run takes a small program for both sides.
 */
export const claimToFirstFile: BenchRow = {
  name: 'claim-to-first-file',
  unit: 'ms',
  better: 'lower',
  goal: 1.3,
  rounds: { full: { warmUp: 1, measured: 9 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

interface Hand {
  readonly binary: string
  readonly env: Readonly<Record<string, string>>
  readonly server: ModelServer
}

async function prepare({ scale, build }: Setting): Promise<Contest> {
  await using opened = new AsyncDisposableStack()
  const within = await memoryFolder()
  const repository = opened.use(await createTestRepository({ within }))
  const folder = await mkdtemp(join(within, 'copse-bench-first-'))
  opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const server = opened.use(await startModelServer({ apiKey: 'scripted' }))
  const hand = {
    binary: scale === 'quick' ? await smallAgent(folder) : await agentBinary('claude-code'),
    env: environmentOf(folder, server),
    server,
  }
  const product = opened.use(await startProduct(build, within))
  const { client } = product
  const { id: project_id } = await client.call('projects.create', { name: 'First', repo_path: repository.path })
  const config = { command: hand.binary, env: { ...hand.env }, model }
  const { id: agent_id } = await client.call('agents.create', { name: 'Claude', executor: 'claude-code', config })
  let number = 0
  const owned = opened.move()
  return {
    product: () => claimRound(product, hand, { project_id, agent_id }, (number += 1)),
    floor: () => handRound(repository, hand, (number += 1)),
    verify: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** A home that knows no other agent, the model server, and nothing that asks the network. */
function environmentOf(folder: string, server: ModelServer): Readonly<Record<string, string>> {
  return {
    ...testGitEnvironment,
    HOME: folder,
    CLAUDE_CONFIG_DIR: join(folder, '.claude'),
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: 'scripted',
    ANTHROPIC_AUTH_TOKEN: '',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    ...(process.getuid?.() === 0 ? { IS_SANDBOX: '1' } : {}),
  }
}

async function smallAgent(folder: string): Promise<string> {
  const path = join(folder, 'claude')
  const program = new URL('../agents/small.ts', import.meta.url).pathname
  await writeFile(path, `#!/bin/sh\nexec '${process.execPath}' '${program}'\n`, { mode: 0o755 })
  return path
}

const promptOf = (number: number, path: string): string =>
  scripted(`Round ${number}: write the file.`, [{ write: { path, content } }, { say: 'Done.' }])

/** When the agent of this round has written its file: then it asks the model what comes next. */
async function written({ server }: Hand, number: number): Promise<number> {
  await server.waitForCall(({ index, said }) => index === 1 && said.includes(`Round ${number}: write`))
  return performance.now()
}

async function claimRound(
  { client }: Product,
  hand: Hand,
  who: { readonly project_id: ProjectId; readonly agent_id: AgentId },
  number: number,
): Promise<number> {
  const { project_id, agent_id } = who
  const description = promptOf(number, 'first.txt')
  const { id: task_id } = await client.call('tasks.create', { project_id, title: 'First', description })
  const since = performance.now()
  const [at, { workspace }] = await Promise.all([
    written(hand, number),
    client.call('tasks.claim', { task_id, agent_id }),
  ])
  await check(join(workspace?.path ?? '', 'first.txt'))
  await client.call('tasks.cancel', { task_id })
  await client.call('tasks.delete', { task_id })
  return at - since
}

async function handRound(repository: TestRepository, hand: Hand, number: number): Promise<number> {
  const path = join(repository.beside, `hand-${number}`)
  await repository.git(['worktree', 'add', '--quiet', '-b', `hand/${number}`, path, 'main'])
  const since = performance.now()
  const args = ['-p', '--permission-mode', 'bypassPermissions', '--model', model]
  const env = { ...process.env, ...hand.env }
  const agent = spawn(hand.binary, args, { cwd: path, env, stdio: ['pipe', 'ignore', 'ignore'] })
  const exit = once(agent, 'exit')
  agent.stdin.end(promptOf(number, 'first.txt'))
  const at = await written(hand, number)
  await check(join(path, 'first.txt'))
  await exit
  await repository.git(['worktree', 'remove', '--force', path])
  await repository.git(['branch', '--quiet', '-D', `hand/${number}`])
  return at - since
}

async function check(file: string): Promise<void> {
  if ((await readFile(file, 'utf8')) !== content) throw new Error(`${file} is not what was written.`)
}
