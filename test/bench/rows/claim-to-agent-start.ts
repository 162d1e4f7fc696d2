import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, openSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import type { AgentId, ProjectId } from '../../../src-shared/contract/ids.ts'
import { createTestRepository, testGitEnvironment, type TestRepository } from '../../helpers/git-repository.ts'
import { memoryFolder } from '../memory-folder.ts'
import { startProduct, type Product } from '../product.ts'
import type { BenchRow, Contest, Setting } from '../row.ts'

const execute = promisify(execFile)
const fileCount = { full: 10_000, quick: 20 } as const

/**
 * From `POST …/claim` to the first line that the agent's process writes, on a repository of 10,000 files and
 * for a task that nobody had before. The floor is `git worktree add` on the same repository and then the same
 * command, both started by bare Node; repository and worktrees of both lie in memory. The line comes through
 * a named pipe, so that nothing is polled. What a round made is removed before the next one, outside the
 * measured time.
 */
export const claimToAgentStart: BenchRow = {
  name: 'claim-to-agent-start',
  unit: 'ms',
  better: 'lower',
  goal: 1.25,
  rounds: { full: { warmUp: 1, measured: 9 }, quick: { warmUp: 0, measured: 1 } },
  prepare,
}

async function prepare({ scale, build, say }: Setting): Promise<Contest> {
  await using opened = new AsyncDisposableStack()
  say(`  making a repository of ${fileCount[scale]} files`)
  const within = await memoryFolder()
  const repository = opened.use(await createTestRepository({ files: filesOf(fileCount[scale]), within }))
  const folder = await realpath(await mkdtemp(join(within, 'copse-bench-claim-')))
  opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }))
  const pipe = opened.use(await openPipe(join(folder, 'started')))
  const product = opened.use(await startProduct(build, within))
  // It stays until it is ended, so that nothing of the product's follow-up falls into the next round.
  const command = `echo started > '${pipe.path}'; exec sleep 600`
  const { client } = product
  const project = await client.call('projects.create', { name: 'Bench', repo_path: repository.path })
  const agent = await client.call('agents.create', { name: 'Starter', executor: 'command', config: { command } })
  let number = 0
  const owned = opened.move()
  return {
    product: () => claimRound(product, pipe, { project_id: project.id, agent_id: agent.id }, ++number),
    floor: () => floorRound(repository, pipe, join(folder, `worktree-${++number}`), command),
    verify: async () => {
      const left = await repository.git(['worktree', 'list', '--porcelain'])
      if (left.split('\n\n').length !== 1) throw new Error(`Worktrees were left behind:\n${left}`)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

async function claimRound(
  { url, token, client }: Product,
  pipe: StartPipe,
  { project_id, agent_id }: { project_id: ProjectId; agent_id: AgentId },
  number: number,
): Promise<number> {
  const { id: task_id } = await client.call('tasks.create', { project_id, title: `Round ${number}` })
  const line = pipe.nextLine()
  const since = performance.now()
  const claimed = fetch(`${url}/api/v1/tasks/${task_id}/claim`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ agent_id }),
  })
  const [started, response] = await Promise.all([line, claimed])
  const { ok, status } = response
  const answer = await response.text()
  if (!ok) throw new Error(`The claim was answered with ${status}: ${answer}`)
  await client.call('tasks.cancel', { task_id })
  await client.call('tasks.delete', { task_id })
  return started - since
}

async function floorRound(repository: TestRepository, pipe: StartPipe, path: string, command: string): Promise<number> {
  const branch = `floor/${path.slice(path.lastIndexOf('-') + 1)}`
  const env = { ...process.env, ...testGitEnvironment }
  const line = pipe.nextLine()
  const since = performance.now()
  await execute('git', ['worktree', 'add', '-b', branch, path, 'main'], { cwd: repository.path, env })
  const agent = spawn('/bin/sh', ['-c', command], { cwd: path, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const started = await line
  const exit = once(agent, 'exit')
  agent.kill()
  await exit
  await repository.git(['worktree', 'remove', '--force', path])
  await repository.git(['branch', '--quiet', '-D', branch])
  return started - since
}

interface StartPipe extends Disposable {
  readonly path: string
  /** When the next line comes, as `performance.now()`. */
  nextLine(): Promise<number>
}

/** A named pipe that this process reads. Held open for writing too, so that it never comes to an end. */
async function openPipe(path: string): Promise<StartPipe> {
  await execute('mkfifo', [path])
  const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const socket = new Socket({ fd, readable: true, writable: false })
  const lines = createInterface(socket)
  return {
    path,
    nextLine: async () => {
      await once(lines, 'line')
      return performance.now()
    },
    [Symbol.dispose]: () => {
      lines.close()
      socket.destroy()
    },
  }
}

/** Sources of a middling project: 100 to a folder, 0.3 to 6 KB each. */
function filesOf(count: number): Record<string, string> {
  const files: Record<string, string> = {}
  for (let number = 0; number < count; number++) {
    const lines = 5 + ((number * 37) % 95)
    const text = Array.from({ length: lines }, (_, line) => `export const value${number}x${line} = ${number + line}\n`)
    files[`src/part-${Math.floor(number / 100)}/file-${number}.ts`] = `// File ${number}\n${text.join('')}`
  }
  return files
}
