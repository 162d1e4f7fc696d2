import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { AgentId, TaskId } from '../../../src-shared/contract/ids.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { signIn } from '../browser/board-page.ts'
import { startProduct } from '../product.ts'
import { receive } from './received.ts'
import type { Contestant, NewTask, Side } from './side.ts'

interface CopseSide extends Side {
  readonly url: string
  readonly token: string
  readonly project: string
}

/** This program, as it is built. */
export const copse: Contestant = {
  name: 'Copse',
  open,
  createByCommand: async (side, { title, prompt }) => {
    const { url, token, project } = side as CopseSide
    const svc = join(projectRoot, 'scripts', 'svc.mjs')
    await promisify(execFile)(
      process.execPath,
      [svc, 'task', 'create', title, '--description', prompt, '--project', project],
      { env: { ...process.env, SVC_API_URL: url, SVC_API_TOKEN: token } },
    )
  },
}

async function open(repository: string, environment: Readonly<Record<string, string>>): Promise<Side> {
  const product = await startProduct('dist')
  const { client, url, token } = product
  const { id: project_id } = await client.call('projects.create', { name: 'Bench', repo_path: repository })
  const headers = { authorization: `Bearer ${token}` }
  const path = `${url}/api/v1/projects/${project_id}`
  const ofTask = (id: string) => ({ task_id: id as TaskId })
  let agent: AgentId | null = null
  const agentId = async (): Promise<AgentId> => {
    const { CLAUDE_BINARY: command = '', ...env } = environment
    const config = { command, env, model: 'claude-sonnet-4-5' }
    agent ??= (await client.call('agents.create', { name: 'Claude', executor: 'claude-code', config })).id
    return agent
  }
  const fields = ({ title, prompt }: NewTask) => ({ title, description: prompt })
  const side: CopseSide = {
    url,
    token,
    project: project_id,
    pid: product.pid,
    listeningAt: product.listeningAt,
    create: async (task) => ((await receive(`${path}/tasks`, headers, fields(task))).body as { id: string }).id,
    createMany: async (tasks) => void (await receive(`${path}/tasks/bulk`, headers, { items: tasks.map(fields) })),
    page: {
      url: `${url}/#/p/${project_id}`,
      ready: "document.querySelector('[data-card]')",
      signIn: (page) => signIn(page, product),
    },
    board: async () => (await receive(`${path}/board`, headers)).bytes,
    everyTask: async () => {
      let bytes = 0
      let next: string | null = ''
      while (next !== null) {
        const page = await receive(`${path}/tasks?limit=200${next && `&cursor=${next}`}`, headers)
        bytes += page.bytes
        next = (page.body as { next_cursor: string | null }).next_cursor
      }
      return bytes
    },
    start: async (id) => void (await client.call('tasks.claim', { ...ofTask(id), agent_id: await agentId() })),
    fileOf: async (id, name) => join((await client.call('tasks.workspace', ofTask(id))).path, name),
    drop: async (id) => {
      await client.call('tasks.cancel', ofTask(id))
      await client.call('tasks.delete', ofTask(id))
    },
    [Symbol.asyncDispose]: () => product[Symbol.asyncDispose](),
  }
  return side
}
