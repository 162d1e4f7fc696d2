import type { PermissionPolicy } from '../../../../src-shared/contract/executor-profiles.ts'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TaskId } from '../../../../src-shared/contract/ids.ts'
import type { AgentRequestAnswer, AgentRequest } from '../../../../src-main/ports/executors.ts'
import { configNames } from '../../../../src-main/agents/create-executors.ts'
import { createPermissions } from '../../../../src-main/agents/agent/permissions.ts'
import type { PermissionRequest } from '../../../../src-main/agents/agent/permissions.ts'
import { pathsIn, resolveToolPaths } from '../../../../src-main/agents/agent/places.ts'

const never = new AbortController().signal

async function makeTree(): Promise<{ readonly root: string; readonly cwd: string } & AsyncDisposable> {
  const root = await mkdtemp(join(tmpdir(), 'copse-places-'))
  const cwd = join(root, 'tree')
  await mkdir(join(cwd, 'src'), { recursive: true })
  await writeFile(join(root, 'outside.txt'), '')
  await symlink(join(root, 'outside.txt'), join(cwd, 'leak.txt'))
  await symlink(join(root, 'not-there-yet'), join(cwd, 'dangling'))
  await symlink(root, join(cwd, 'up'))
  await symlink('src', join(cwd, 'here'))
  return { root, cwd, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) }
}

test('resolves paths below the worktree through links, and drops those that lead out of it', async () => {
  await using tree = await makeTree()
  const { cwd } = tree
  expect(await resolveToolPaths(cwd, [])).toEqual([])
  expect(await resolveToolPaths(cwd, ['src/a.ts', join(cwd, 'b.ts')])).toEqual(['src/a.ts', 'b.ts'])
  expect(await resolveToolPaths(cwd, ['here/new.ts'])).toEqual(['src/new.ts', 'here/new.ts'])
  expect(await resolveToolPaths(join(tree.root, 'tree', 'here', '..'), ['a.ts'])).toEqual(['a.ts'])
  const outside = ['../x', '/etc/passwd', 'leak.txt', 'dangling', 'up/tree/../x', '~/x', 'src/\0x', join(cwd, '..')]
  for (const path of outside) expect([path, await resolveToolPaths(cwd, ['src/a.ts', path])]).toEqual([path, null])
})

test('finds the paths of a call under the names that agents use', () => {
  expect(
    pathsIn({ file_path: 'a', filePath: 'b', absolute_path: 'c', dir: 'd', paths: ['e', 1], content: 'x' }),
  ).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(pathsIn({ pattern: 'src/**/*.ts', glob: '/etc/**', include: '../x' })).toEqual(['/etc/**', '../x'])
  expect(pathsIn({ path: '', command: 'rm /x' })).toEqual([])
  expect(pathsIn(null)).toEqual([])
})

interface Asked {
  readonly requests: AgentRequest[]
  decide(call: Partial<PermissionRequest>): Promise<boolean>
}

const about = { task_id: 'own-task' as TaskId, protectedNames: configNames }

function under(policy: PermissionPolicy, cwd: string, answer: (request: AgentRequest) => string | null): Asked {
  const requests: AgentRequest[] = []
  const ask = (request: AgentRequest): Promise<AgentRequestAnswer | null> => {
    requests.push(request)
    const id = answer(request)
    const option = request.options.find((one) => one.id === id) ?? null
    return Promise.resolve(id === null ? null : { option, text: null })
  }
  const permissions = createPermissions({ ...about, config: { permissions: policy }, cwd, ask }, { tellsWhy: true })
  const call: PermissionRequest = {
    tool: 'T',
    action: 'run',
    target: null,
    diff: null,
    input: null,
    ours: false,
    paths: [],
  }
  return {
    requests,
    decide: async (what) => (await permissions.decide({ ...call, ...what }, never)).allowed,
  }
}

const run = (command: string) => ({ action: 'run', target: command.slice(0, 4), input: { command } }) as const

test('allows for the run exactly that command, not one that begins like it', async () => {
  await using tree = await makeTree()
  const asked = under('ask', tree.cwd, () => 'allow_always')
  expect(await asked.decide(run('make'))).toBe(true)
  expect(await asked.decide(run('make'))).toBe(true)
  expect(asked.requests).toHaveLength(1)
  await asked.decide(run('make clean'))
  expect(asked.requests.map(({ detail }) => detail)).toEqual(['make', 'make clean'])
})

test('allows for the run all edits in the worktree except of protected files', async () => {
  await using tree = await makeTree()
  const asked = under('ask', tree.cwd, () => 'allow_always')
  const edit = (path: string) => ({ action: 'edit', target: path, paths: [path] }) as const
  for (const path of ['a.ts', 'src/b.ts', '.git/hooks/pre-commit', '../out.ts']) await asked.decide(edit(path))
  expect(asked.requests.map(({ target }) => target)).toEqual(['a.ts', '.git/hooks/pre-commit', '../out.ts'])
})

test('asks before a write to a file that controls an agent', async () => {
  await using tree = await makeTree()
  const asked = under('worktree', tree.cwd, () => null)
  const agents = ['.claude', '.codex', '.gemini', '.qwen', '.copilot', '.opencode', 'opencode.json', 'opencode.jsonc']
  const steering = [...agents, '.mcp.json', '.git', '.gitmodules', '.envrc', '.vscode', '.husky'].flatMap((name) => [
    name,
    `sub/${name.toUpperCase()}/x`,
  ])
  const written: string[] = []
  for (const path of [...steering, 'claude.ts', 'src/codex']) {
    if (await asked.decide({ action: 'write', target: path, paths: [path] })) written.push(path)
  }
  expect(written).toEqual(['claude.ts', 'src/codex'])
})

test('denies a request without an answer, and withdraws it if no one can be asked', async () => {
  await using tree = await makeTree()
  expect(await under('ask', tree.cwd, () => null).decide(run('make'))).toBe(false)
  expect(await under('ask', tree.cwd, () => 'no-option').decide(run('make'))).toBe(false)
  const alone = createPermissions({ ...about, config: { permissions: 'ask' }, cwd: tree.cwd }, { tellsWhy: true })
  const call: PermissionRequest = { tool: 'T', ...run('make'), diff: null, ours: false, paths: [] }
  expect(await alone.decide(call, never)).toEqual({ allowed: false, reason: null })
})

test.each([
  ['mcp__svc__svc_get_task_diff', { task_id: 'another' }, true],
  ['svc_list_tasks', null, true],
  ['mcp__svc__svc_submit_for_review', {}, true],
  ['svc-svc_update_task', { task_id: 'own-task' }, true],
  ['svc_update_task', { task_id: 'another' }, false],
  ['mcp__svc__svc_add_comment', { task_id: 'another' }, false],
  ['mcp__svc__svc_create_task', { title: 'New' }, false],
  ['svc_assign_agent', { task_id: 'own-task' }, false],
])('decides about our own tools %s with %j without a question: %s', async (tool, input, free) => {
  await using tree = await makeTree()
  for (const policy of ['ask', 'worktree'] as const) {
    const asked = under(policy, tree.cwd, () => null)
    expect(await asked.decide({ tool, action: 'mcp', input, ours: true })).toBe(free)
    expect(asked.requests).toHaveLength(free ? 0 : 1)
  }
})

test('asks nothing under `all`', async () => {
  await using tree = await makeTree()
  const asked = under('all', tree.cwd, () => null)
  expect(await asked.decide(run('rm -rf /'))).toBe(true)
  expect(asked.requests).toEqual([])
})

test('asks with all that a command is given, and not for what is too long to be read', async () => {
  const asked = under('worktree', '/tree', () => 'allow_always')
  const command = (input: object) => asked.decide({ action: 'run', input })
  expect(await command({ command: 'ls', description: 'Lists' })).toBe(true)
  expect(await command({ command: 'ls', dangerouslyDisableSandbox: true })).toBe(true)
  const rest = 'x'.repeat(150_000)
  expect(await command({ command: `${rest}; ls` })).toBe(true)
  expect(await command({ command: `${rest}; rm` })).toBe(true)
  expect(asked.requests.map(({ detail }) => detail?.slice(-40))).toEqual([
    'ls',
    '{\n  "command": "ls",\n  "dangerouslyDisableSandbox": true\n}'.slice(-40),
    `${rest}; ls`.slice(-40),
    `${rest}; rm`.slice(-40),
  ])
  expect(await command({ command: rest + rest })).toBe(false)
  expect(asked.requests).toHaveLength(4)
})
