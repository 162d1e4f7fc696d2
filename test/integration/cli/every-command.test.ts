import type { Command } from 'commander'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { complete } from '../../../src-main/cli/complete.ts'
import { createProgram } from '../../../src-main/cli/program.ts'
import { startSvc, endOf } from './svc-process.ts'

const done = () => Promise.resolve(0)
const program = createProgram({
  version: '0',
  serve: done,
  demo: done,
  rotateKey: done,
  backUp: done,
  restore: done,
  connectRunner: done,
})

interface Leaf {
  readonly words: readonly string[]
  readonly command: Command
}

function leavesOf(command: Command, words: readonly string[]): Leaf[] {
  if (command.commands.length === 0) return [{ words, command }]
  return command.commands
    .filter((one) => !one.name().startsWith('_'))
    .flatMap((one) => leavesOf(one, [...words, one.name()]))
}

const leaves = leavesOf(program, [])
const names = leaves.map(({ words }) => words.join(' '))

/** Commands that need no service. */
const local = ['serve', 'demo', 'rotate-key', 'backup', 'restore', 'completion']
const clients = leaves.filter(({ words }) => !local.includes(words.join(' ')))

/** A value for each required argument and option. */
const argumentsOf = ({ command }: Leaf) => [
  ...command.registeredArguments.filter((one) => one.required).map((one) => one.argChoices?.[0] ?? 'abc'),
  ...command.options.filter((one) => one.mandatory).flatMap((one) => [one.long ?? '', one.argChoices?.[0] ?? 'abc']),
]

const nothingListed = () => Promise.resolve([])

describe.each(names)('svc %s', (name) => {
  const words = name.split(' ')
  const leaf = leaves[names.indexOf(name)]
  if (!leaf) throw new Error('The name is one of theirs.')

  test('is completed from its first letters, as are its options', async () => {
    const last = words.at(-1) ?? ''
    const begun = [...words.slice(0, -1), last.slice(0, 3)]
    expect((await complete(program, begun, nothingListed)).map(({ value }) => value)).toContain(last)
    const offered = (await complete(program, [...words, '--'], nothingListed)).map(({ value }) => value)
    expect(offered).toEqual([...leaf.command.options.map(({ long }) => long), '--help'])
  })

  test('accepts --json, unless it has nothing for a program', () => {
    const takes = leaf.command.options.some(({ long }) => long === '--json')
    expect(takes).toBe(name !== 'completion')
  })
})

describe('where no service answers', () => {
  const ended = new Map<string, Awaited<ReturnType<typeof endOf>>>()
  const nowhere = { SVC_DATA_DIR: '/nonexistent', SVC_API_TOKEN: 'svc_x', SVC_API_URL: 'http://127.0.0.1:1' }

  beforeAll(async () => {
    const waiting = clients.filter(({ words }) => words[0] !== 'logout')
    const work = async () => {
      for (let leaf = waiting.pop(); leaf; leaf = waiting.pop()) {
        const token = leaf.words[0] === 'login' ? ['--token', 'svc_x'] : []
        const args = [...leaf.words, ...argumentsOf(leaf), ...token, '--json']
        const request = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}\n'
        ended.set(leaf.words.join(' '), await endOf(startSvc(args, { env: nowhere }), request))
      }
    }
    await Promise.all([work(), work(), work()])
  })
  afterAll(() => {
    ended.clear()
  })

  const refusing = clients.map(({ words }) => words.join(' ')).filter((name) => name !== 'logout' && name !== 'mcp')
  test.each(refusing)('ends svc %s --json with 1 and the reason as JSON on stderr', (name) => {
    const { code, stdout, stderr } = ended.get(name) ?? { code: null, stdout: '', stderr: '' }
    expect([code, stdout], stderr).toEqual([1, ''])
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string } }
    expect(error.code).toBe('connection_failed')
    expect(error.message).toContain('svc serve')
  })

  test('answers the client of svc mcp with the reason', () => {
    const { code, stdout } = ended.get('mcp') ?? { code: null, stdout: '' }
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      id: 1,
      error: { message: expect.stringContaining('svc serve') as string },
    })
  })
})

test('ends with 2 for an unusable command line', async () => {
  const tried = [
    ['task', 'show'],
    ['task', 'nonsense'],
    ['task', 'list', '--nonsense'],
    ['events', '--since', 'x'],
  ]
  const codes = await Promise.all(tried.map(async (args) => (await endOf(startSvc(args, {}))).code))
  expect(codes).toEqual([2, 2, 2, 2])
})
