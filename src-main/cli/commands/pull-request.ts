import { Option, type Command } from 'commander'
import type { PullRequest, PullRequestCheck } from '../../../src-shared/contract/pull-requests.ts'
import { mergeMethods } from '../../../src-shared/contract/pull-request-names.ts'
import { addClientCommand, addGroup, runCommand, type CommandContext, type CommonOptions } from '../command-context.ts'
import { findTask } from '../find.ts'
import { paint, plain } from '../output.ts'
import { formatTable } from '../table.ts'

interface OpenOptions extends CommonOptions {
  readonly draft?: boolean
  readonly title?: string
}

interface MergeOptions extends CommonOptions {
  readonly method?: (typeof mergeMethods)[number]
  readonly whenReady?: boolean
}

/** Adds `svc pr open`, `show`, `checks`, `sync`, `merge` and `close`. */
export function addPullRequest(program: Command): void {
  const pr = addGroup(program, 'pr', 'open, follow and merge the pull requests of tasks')
  addClientCommand(pr, {
    usage: 'open <task>',
    summary: 'push the judged work and open a pull request, or update the open one',
    examples: ['svc pr open SHO-42', 'svc pr open SHO-42 --draft'],
  })
    .option('--draft', 'open it as a draft')
    .option('--title <title>', 'its title (default: the project’s template)')
    .action((ref: string, options: OpenOptions) => runCommand(options, (scene) => open(scene, ref, options)))
  addClientCommand(pr, {
    usage: 'show <task>',
    summary: 'show the pull request as the forge told last',
    examples: ['svc pr show SHO-42', "svc pr show SHO-42 --json | jq '.waiting_for'"],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => show(scene, ref)))
  addClientCommand(pr, {
    usage: 'checks <task>',
    summary: 'show its checks, and the ends of the logs of those that failed',
    examples: ['svc pr checks SHO-42'],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => checks(scene, ref)))
  addClientCommand(pr, {
    usage: 'sync <task>',
    summary: 'ask the forge now',
    examples: ['svc pr sync SHO-42'],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => sync(scene, ref)))
  addClientCommand(pr, {
    usage: 'merge <task>',
    summary: 'merge it at the forge, at the commit that was judged last',
    examples: ['svc pr merge SHO-42', 'svc pr merge SHO-42 --method squash --when-ready'],
  })
    .addOption(new Option('--method <method>', 'how (default: as the repository prefers)').choices(mergeMethods))
    .option('--when-ready', 'leave it to the forge’s queue or auto-merge')
    .action((ref: string, options: MergeOptions) => runCommand(options, (scene) => merge(scene, ref, options)))
  addClientCommand(pr, {
    usage: 'close <task>',
    summary: 'close it without merging',
    examples: ['svc pr close SHO-42'],
  }).action((ref: string, options: CommonOptions) => runCommand(options, (scene) => close(scene, ref)))
}

async function open(scene: CommandContext, ref: string, { draft, title }: OpenOptions): Promise<void> {
  const { client, out } = scene
  const { id: task_id } = await findTask(scene, ref)
  const wish = { task_id, ...(draft !== undefined && { draft }), ...(title !== undefined && { title }) }
  const answer = await out.withProgress('Pushing …', client.call('pull_requests.open', wish))
  const { pull_request: pull, created } = answer
  await out.answer(
    answer,
    () => `${created ? 'Opened' : 'Updated'} ${paint('bold', `#${pull.number}`)}: ${plain(pull.url)}`,
  )
}

async function show(scene: CommandContext, ref: string): Promise<void> {
  const { id: task_id } = await findTask(scene, ref)
  await answer(scene, await scene.client.call('pull_requests.get', { task_id }))
}

async function sync(scene: CommandContext, ref: string): Promise<void> {
  const { id: task_id } = await findTask(scene, ref)
  await answer(scene, await scene.out.withProgress('Asking …', scene.client.call('pull_requests.sync', { task_id })))
}

async function merge(scene: CommandContext, ref: string, { method, whenReady = false }: MergeOptions): Promise<void> {
  const { id: task_id } = await findTask(scene, ref)
  const wish = { task_id, when_ready: whenReady, ...(method !== undefined && { method }) }
  await answer(scene, await scene.out.withProgress('Merging …', scene.client.call('pull_requests.merge', wish)))
}

async function close(scene: CommandContext, ref: string): Promise<void> {
  const { id: task_id } = await findTask(scene, ref)
  await answer(scene, await scene.out.withProgress('Closing …', scene.client.call('pull_requests.close', { task_id })))
}

async function checks({ client, out, ...scene }: CommandContext, ref: string): Promise<void> {
  const { id: task_id } = await findTask({ client, out, ...scene }, ref)
  const pull = await client.call('pull_requests.get', { task_id })
  await out.answer({ checks: pull.checks }, () => checksText(pull.checks))
}

async function answer({ out }: CommandContext, pull: PullRequest): Promise<void> {
  await out.answer(pull, () => pullText(pull))
}

function pullText(pull: PullRequest): string {
  const { number, state, url, target, head, last_error, checks: all, threads } = pull
  const open = threads.filter(({ resolved }) => !resolved).length
  return [
    `${paint('bold', `#${number}`)} ${state}, into ${plain(target)}, at ${head.slice(0, 12)}`,
    plain(url),
    ...(pull.waiting_for.length > 0 ? [`Waits for ${waitsText(pull)}.`] : []),
    ...(all.length > 0 ? [checksText(all)] : []),
    ...(open > 0 ? [`${open} ${open === 1 ? 'thread is' : 'threads are'} open.`] : []),
    ...(last_error === null ? [] : [paint('red', plain(last_error.message))]),
  ].join('\n')
}

/** What it waits for, the one below it in its stack by number. */
function waitsText({ waiting_for, below }: PullRequest): string {
  const lower = below?.number == null ? 'the task below' : `#${below.number}`
  return waiting_for.map((wait) => (wait === 'stack' ? lower : wait)).join(', ')
}

function checksText(checks: readonly PullRequestCheck[]): string {
  if (checks.length === 0) return 'It has no checks.'
  const rows = checks.map(({ name, state, required, inherited }) => [
    plain(name),
    paint(state === 'failed' ? 'red' : state === 'passed' ? 'green' : 'dim', state),
    required === false ? 'optional' : inherited ? 'fails on the target too' : '',
  ])
  const logs = checks.flatMap(({ name, state, log_tail }) =>
    state === 'failed' && log_tail !== null
      ? [`\n${paint('bold', plain(name))}\n${plain(log_tail.slice(-4_000))}`]
      : [],
  )
  return [formatTable(['CHECK', 'STATE', ''], rows), ...logs].join('\n')
}
