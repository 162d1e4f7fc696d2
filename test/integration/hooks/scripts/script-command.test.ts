import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createScriptFolder } from './captured-run.ts'

const posix = process.platform !== 'win32'

/** A folder with files, all executable except those named `…plain…`. */
function folderWith(files: Readonly<Record<string, string>>) {
  const folder = createScriptFolder()
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder.path, name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, content)
    chmodSync(path, name.includes('plain') ? 0o644 : 0o755)
  }
  return folder
}

const say = '#!/bin/sh\necho "ran in $PWD"\n'

test
  .runIf(posix)
  .each(['hook.sh', './hook.sh', 'scripts/with space.sh', 'scripts/grüße & $(more).sh', '  scripts/with space.sh \n'])(
  'runs the path of an executable as it is, with any characters: %j',
  async (command) => {
    using folder = folderWith({ 'hook.sh': say, 'scripts/with space.sh': say, 'scripts/grüße & $(more).sh': say })
    expect(await folder.run(command)).toMatchObject({ exit_code: 0, stdout: `ran in ${folder.path}\n`, stderr: '' })
  },
)

test.runIf(posix)('runs an absolute path, a link, and a file without a first line', async () => {
  using folder = folderWith({ 'a b.sh': 'echo no first line; exit 4\n' })
  symlinkSync('a b.sh', join(folder.path, 'a link'))
  const expected = { exit_code: 4, stdout: 'no first line\n' }
  expect(await folder.run(join(folder.path, 'a b.sh'))).toMatchObject(expected)
  expect(await folder.run('a link')).toMatchObject(expected)
})

test.runIf(posix)('refuses a file that is not executable, and says what to do', async () => {
  using folder = folderWith({ 'scripts/plain.sh': say })
  expect(await folder.run('scripts/plain.sh')).toMatchObject({
    exit_code: 126,
    stdout: '',
    stderr: 'Could not be started: scripts/plain.sh is not executable: chmod +x it, and commit that.\n',
  })
})

test.runIf(posix)('reports a script whose first line names no program', async () => {
  using folder = folderWith({ 'hook.sh': '#!/no/such/program\n' })
  const { exit_code, stderr } = await folder.run('hook.sh')
  expect([exit_code, stderr]).toEqual([
    126,
    `Could not be started: The program that the first line of ${join(folder.path, 'hook.sh')} names was not found.\n`,
  ])
})

test.runIf(posix)('passes everything else to the shell: arguments, several lines, folders', async () => {
  using folder = folderWith({ 'hook.sh': '#!/bin/sh\necho "with $1"\n', 'sub/x': '' })
  expect(await folder.run('./hook.sh this')).toMatchObject({ exit_code: 0, stdout: 'with this\n' })
  expect(await folder.run('./hook.sh\necho and more')).toMatchObject({ stdout: 'with \nand more\n' })
  expect((await folder.run('sub')).exit_code).toBe(127)
  expect(await folder.run('echo "$SVC_EVENT"', { env: { SVC_EVENT: 'on_work_stop' } })).toMatchObject({
    stdout: 'on_work_stop\n',
  })
})

test.runIf(posix).each([
  ['a command that is too long for the system', `: ${'ä'.repeat(100_000)}`, {}, 'too long'],
  ['a null byte in the command', 'echo a\0b', {}, 'null byte'],
  ['a null byte in a value', 'true', { SVC_TASK_TITLE: 'a\0b' }, 'null byte'],
])('answers %s without a crash', async (_, command, env, why) => {
  using folder = createScriptFolder()
  const { exit_code, stderr } = await folder.run(command, { env })
  expect(exit_code).toBe(126)
  expect(stderr).toContain(`Could not be started: The command`)
  expect(stderr).toContain(why)
})
