import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildCommandLine } from '../../../../src-main/agents/claude-code/command-line.ts'

const plain = { model: null, effort: null, session_id: null, mcp_config: null, asks: false, args: [] }
const protocol = [
  '-p',
  '--output-format',
  'stream-json',
  '--input-format',
  'stream-json',
  '--verbose',
  '--include-partial-messages',
  '--permission-mode',
  'bypassPermissions',
  '--disallowedTools',
  'AskUserQuestion,EnterWorktree,CronCreate,ScheduleWakeup',
]

test('runs with stream-json in both directions and asks no one', () => {
  expect(buildCommandLine(plain)).toEqual({ args: protocol, refused: [] })
})

test('asks us about every command and change, whatever the settings allow', () => {
  const { args } = buildCommandLine({ ...plain, asks: true })
  const settings = args[args.indexOf('--settings') + 1] ?? ''
  expect(args).toEqual([
    ...protocol.slice(0, protocol.indexOf('--permission-mode')),
    ...['--permission-mode', 'default', '--permission-prompt-tool', 'stdio', '--settings', settings],
    ...['--disallowedTools', 'EnterWorktree,CronCreate,ScheduleWakeup'],
  ])
  const asked = ['Bash', 'PowerShell', 'Monitor', 'Read', 'Edit', 'Write', 'NotebookEdit', 'WebFetch', 'WebSearch']
  expect(JSON.parse(settings)).toEqual({ permissions: { ask: asked } })
})

test('puts the agent’s arguments first, then the protocol, model, effort, session and MCP', () => {
  const { args } = buildCommandLine({
    model: 'opus',
    effort: 'high',
    session_id: 'abc',
    mcp_config: '/tmp/mcp.json',
    asks: false,
    args: ['--bare', '--add-dir', '/a', '/b', '-d'],
  })
  expect(args).toEqual([
    ...['--bare', '--add-dir', '/a', '/b', '-d'],
    ...protocol,
    ...['--mcp-config', '/tmp/mcp.json', '--strict-mcp-config', '--allowedTools', 'mcp__svc__*'],
    ...['--model', 'opus'],
    ...['--effort', 'high'],
    ...['--resume', 'abc'],
  ])
})

test.each<[readonly string[], readonly string[]]>([
  [
    ['--output-format', 'text', '--effort', 'low'],
    ['--effort', 'low'],
  ],
  [['--output-format=text', '--effort=low'], ['--effort=low']],
  [['--permission-mode', 'plan'], []],
  [
    ['--mcp-config', 'a.json', 'b.json', '--name', 'x'],
    ['--name', 'x'],
  ],
  [
    ['--resume', '--fallback-model', 'haiku'],
    ['--fallback-model', 'haiku'],
  ],
  [['-r', 'abc', '--bare'], ['--bare']],
  [['-c'], []],
  [['-pc'], []],
  [['-w', 'elsewhere'], []],
  [
    ['-n', 'name', '-dapi'],
    ['-n', 'name', '-dapi'],
  ],
  [['mcp', 'list'], []],
  [['--', 'Do something else'], []],
  [['-'], []],
  [['--constructor'], ['--constructor']],
])('reduces %o to %o and reports the rest', (given, kept) => {
  const { args, refused } = buildCommandLine({ ...plain, args: given })
  expect(args).toEqual([...kept, ...protocol])
  expect([...kept, ...refused].sort()).toEqual([...given].sort())
})

test('lets no argument of an agent change the protocol', () => {
  const token = fc.constantFrom(
    '-p',
    '-c',
    '-x',
    '-pc',
    '--print',
    '--resume',
    '--restricted',
    '--mcp-config=x',
    '--',
    'word',
    '--effort',
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(token, fc.string()), { maxLength: 12 }), (given) => {
      const { args, refused } = buildCommandLine({ ...plain, args: given })
      const own = args.slice(0, args.length - protocol.length)
      expect(args.slice(own.length)).toEqual(protocol)
      expect([...own, ...refused].sort()).toEqual([...given].sort())
      const flags = own.filter((word) => word.startsWith('-')).map((word) => word.split('=')[0])
      expect(
        flags.filter(
          (flag) => protocol.includes(flag ?? '') || /^-[^-dn]|^--(?:resume|restricted|mcp-config)?$/.test(flag ?? ''),
        ),
      ).toEqual([])
      expect(own[0]?.startsWith('-') ?? true).toBe(true)
    }),
  )
})
