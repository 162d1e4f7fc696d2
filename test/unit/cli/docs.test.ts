import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { format } from 'oxfmt'
import { expect, test } from 'vitest'
import { createProgram } from '../../../src-main/cli/program.ts'
import { projectRoot } from '../../helpers/project-root.ts'

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
  readonly path: string
  readonly command: Command
}

function leaves(command: Command, path: string): Leaf[] {
  if (command.commands.length === 0) return [{ path, command }]
  return command.commands
    .filter((one) => !one.name().startsWith('_'))
    .flatMap((one) => leaves(one, `${path} ${one.name()}`))
}

function help(command: Command): string {
  let text = ''
  command.configureOutput({ writeOut: (piece) => void (text += piece) }).outputHelp()
  return text
}

test.each(leaves(program, 'svc'))('has an example that begins with `$path` in its help', ({ path, command }) => {
  expect(help(command)).toMatch(new RegExp(`Examples?:\\n(.*\\n)*.*${path}\\b`))
})

/** UPDATE_DOCS=1 rewrites the table. */
test('lists all commands in docs/cli.md', async () => {
  const file = join(projectRoot, 'docs', 'cli.md')
  const rows = leaves(program, 'svc').map(({ path, command }) => {
    const given = command.registeredArguments.map((one) => (one.required ? `<${one.name()}>` : `[${one.name()}]`))
    const own = command.options.filter(({ long }) => long !== '--url' && long !== '--json')
    const options = own.map(({ flags }) => `\`${flags}\``).join(', ')
    return `| \`${[path, ...given].join(' ')}\` | ${command.description()} | ${options} |`
  })
  const table = ['| Command | What it does | Options |', '| --- | --- | --- |', ...rows].join('\n')
  const before = await readFile(file, 'utf8')
  const draft = before.replace(/(<!-- commands -->\n)[^]*(<!-- end -->)/, (_all, begin: string, end: string) =>
    [begin, table, '\n\n', end].join('\n'),
  )
  const { code: after } = await format('cli.md', draft, { printWidth: 120, semi: false, singleQuote: true })
  if (process.env['UPDATE_DOCS'] === '1') await writeFile(file, after)
  else expect(before).toBe(after)
})
