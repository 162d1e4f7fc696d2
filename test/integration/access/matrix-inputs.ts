import { operations, type OperationInput, type OperationName } from '../../../src-shared/contract/operations.ts'
import type { World } from './matrix-world.ts'

type Values = Readonly<Record<string, unknown>>

/** Values for the keys of this name, in any operation. */
const byKey: Values = {
  email: 'somebody@copse.test',
  password: 'correct horse',
  current_password: 'wrong horse',
  new_password: 'battery staple',
  display_name: 'Somebody',
  code: 'x',
  refresh_token: 'x',
  is_admin: false,
  path: '/nowhere/at/all',
  repo_path: '/nowhere/at/all',
  name: 'name',
  executor: 'external',
  title: 'Title',
  template: 'Text',
  body: 'Body',
  status: 'todo',
  version: 1,
  verdict: 'pass',
  role: 'reviewer',
  action: 'resume',
  files: [{ path: 'x', blob: null, new_mode: null }],
  viewed: true,
  data: 'x',
  data_base64: 'eA==',
  message: 'x',
  cols: 80,
  rows: 24,
  ask_id: 'no-such-ask',
  thread_id: 'no-such-thread',
  definition: {},
  platform: 'selfhosted',
  base_url: 'http://127.0.0.1:9',
  owner: 'o',
  repo: 'r',
  token_secret_ref: 'COPSE_NO_SUCH_TOKEN',
  url: 'http://127.0.0.1:9/o/r/issues/1',
  sha256: '0'.repeat(64),
  timestamp: '20261121T090000000Z',
  event: 'on_task_done',
  hook: { type: 'script', command: 'true' },
}

/** Values that an operation needs in addition, or instead. */
const byOperation: { readonly [N in OperationName]?: (ids: World['ids']) => Partial<OperationInput<N>> } = {
  'auth.login': () => ({ password: 'wrong horse' }),
  'agents.check_args': () => ({ args: [] }),
  'agents.keep': () => ({ paths: ['~/.nothing'] }),
  'executions.finish': () => ({ status: 'succeeded' }),
  'executions.move_in_queue': () => ({ to: 'first' }),
  'members.add': ({ user_id }) => ({ user_id: user_id ?? '', role: 'member' }),
  'runners.create': ({ runner_id }) => ({ name: `not ${runner_id}`, kind: 'container', config: { image: 'none' } }),
  'tasks.create_many': () => ({ items: [{ title: 'Title' }] }),
  'tasks.propose_chapters': () => ({ tree: 'x', chapters: [{ title: 'Title', why: '', hunks: ['x'] }] }),
  'tasks.mark_viewed': () => ({ files: [{ path: 'x', blob: null, new_mode: null }] }),
  'tasks.add_dependency': ({ other_task_id }) => ({ depends_on_id: other_task_id ?? '' }),
  'tasks.remove_dependency': ({ other_task_id }) => ({ depends_on_id: other_task_id ?? '' }),
  'tasks.assign_role': ({ agent_id }) => ({ agent_id: agent_id ?? '' }),
  'rescues.diff_in_project': ({ task_id }) => ({ of_task: task_id ?? '' }),
  'rescues.restore_in_project': ({ task_id }) => ({ of_task: task_id ?? '' }),
  'rescues.delete_in_project': ({ task_id }) => ({ of_task: task_id ?? '' }),
}

/** A valid request about existing records, so that its answer depends on rights, or on what comes after. */
export function inputFor(name: OperationName, { ids }: World): Values {
  const { input } = operations[name]
  const special = (byOperation[name] as ((ids: World['ids']) => Values) | undefined)?.(ids) ?? {}
  const needed = Object.entries(input.shape).filter(([, schema]) => !schema.safeParse(undefined).success)
  const values = { ...Object.fromEntries(needed.map(([key]) => [key, ids[key] ?? byKey[key]])), ...special }
  const parsed = input.safeParse(values)
  if (parsed.success) return values
  throw new Error(`Say in matrix-inputs.ts what ${name} needs: ${parsed.error.message}`)
}
