import { existsSync, readFileSync, statSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TranscriptEntry } from '../../../src-shared/contract/executions.ts'
import type { AgentConfig } from '../../../src-shared/contract/projects.ts'
import { readMachine } from '../../../src-main/containment/machine.ts'
import { startJob, type Job } from '../../helpers/job.ts'
import { present } from '../../helpers/present.ts'
import { refused } from '../../helpers/refusal.ts'

const runnable = process.platform === 'linux' && (readMachine().available || process.env['CI'] !== undefined)

let home = ''
beforeEach(async () => {
  // Outside the temporary folder, which is hidden anyhow.
  home = await mkdtemp('/var/tmp/copse-home-')
})
afterEach(async () => {
  await rm(home, { recursive: true, force: true })
})

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(home, name)), { recursive: true })
    await writeFile(join(home, name), text)
  }
}

/** Runs a command as a contained agent with this home; `before` is the agent of an earlier run. */
async function runIn(job: Job, command: string, more: AgentConfig = {}) {
  const { client } = job.running
  const config = { command, containment: 'worktree' as const, ...more, env: { HOME: home, ...more.env } }
  const agent = await client.call('agents.create', { name: 'Wren', executor: 'command', config })
  return { agent, ...(await again(job, agent.id)) }
}

async function again(job: Job, agent_id: string) {
  const { client } = job.running
  const task = await job.task()
  const claimed = await client.call('tasks.claim', { task_id: task.id, agent_id: agent_id as never })
  const ended = await job.running.eventually(
    () => job.executions(task.id),
    ([one]) => one?.status === 'succeeded' || one?.status === 'failed',
  )
  const run = present(ended[0])
  const entries: TranscriptEntry[] = []
  for await (const item of client.transcript({ execution_id: run.id }, null, AbortSignal.timeout(20_000)))
    if (item.kind === 'entry') entries.push(item.entry)
  const path = present(claimed.workspace).path
  const seen = (name: string): string => readFileSync(join(path, name), 'utf8')
  return { run, entries, seen, task: await client.call('tasks.get', { task_id: task.id }) }
}

describe.runIf(runnable)('the home of a contained run', () => {
  it('shows toolchains, and not what is personal', async () => {
    await using job = await startJob()
    await put({
      '.npmrc': 'registry=https://npm.test/\n//npm.test/:_authToken=npm_secret\nsave-exact=true\n',
      '.gitconfig':
        '[user]\n\tname = Ada\n[credential]\n\thelper = store\n[url "https://ada:hidden@git.test/"]\n\tinsteadOf = git:\n',
      '.m2/settings.xml': '<settings><servers><server><password>hidden</password></server></servers></settings>\n',
      '.pypirc': 'password = hidden',
      '.cargo/credentials.toml': 'token = "hidden"',
      '.cargo/bin/tool': '#!/bin/sh\necho tool\n',
      '.bash_history': 'export KEY=hidden',
      '.mozilla/firefox/cookies.sqlite': 'hidden',
      'Documents/letter.txt': 'hidden',
      '.ssh/id_ed25519': 'hidden',
      '.nvm/versions/node/v24/bin/node': '#!/bin/sh\necho node\n',
      'opt/linter/package.json': '{}',
      'opt/linter/dist/cli.js': '#!/bin/sh\ncat "$(dirname "$0")/../lib/rules.txt"\n',
      'opt/linter/lib/rules.txt': 'rules\n',
      'bin/plain': '#!/bin/sh\necho plain\n',
    })
    for (const name of ['.cargo/bin/tool', '.nvm/versions/node/v24/bin/node', 'opt/linter/dist/cli.js', 'bin/plain'])
      await chmod(join(home, name), 0o755)
    await symlink('../opt/linter/dist/cli.js', join(home, 'bin', 'linter'))
    const personal = ['.pypirc', '.cargo/credentials.toml', '.bash_history', '.mozilla', 'Documents', '.ssh/id_ed25519']
    const { run, seen } = await runIn(
      job,
      [
        `for f in ${personal.join(' ')}; do test -e ~/$f && echo "$f" >> shown.txt; done; touch shown.txt`,
        'cat ~/.npmrc ~/.gitconfig ~/.m2/settings.xml > settings.txt',
        '~/.cargo/bin/tool > tools.txt; ~/.nvm/versions/node/v24/bin/node >> tools.txt; plain >> tools.txt',
        'sh "$(readlink -f ~/bin/linter)" >> tools.txt',
        'env -u GIT_CONFIG_GLOBAL git config --global user.name > name.txt',
      ].join('\n'),
      { env: { PATH: `${home}/bin:${process.env['PATH'] ?? ''}` } },
    )
    expect(run, run.error ?? '').toMatchObject({ status: 'succeeded' })
    expect(seen('shown.txt')).toBe('')
    expect(seen('settings.txt')).toContain('registry=https://npm.test/\nsave-exact=true')
    expect(seen('settings.txt')).not.toMatch(/hidden|npm_secret|helper/)
    expect(seen('tools.txt')).toBe('tool\nnode\nplain\nrules\n')
    expect(seen('name.txt')).toBe('Ada\n')
  })

  it('keeps what an unknown agent writes, privately, until a person keeps it', async () => {
    await using job = await startJob()
    const { client } = job.running
    const command = [
      'cat ~/.wren/state.txt ~/.config/wren/config.toml > before.txt 2>/dev/null',
      'mkdir -p ~/.wren ~/.config/wren && echo one >> ~/.wren/state.txt && echo model > ~/.config/wren/config.toml',
      'echo alias > ~/.bashrc; ln -s /etc/hostname ~/.wren/link; touch work.txt',
    ].join('; ')
    const first = await runIn(job, command)
    expect(first.run, first.run.error ?? '').toMatchObject({ status: 'succeeded' })
    const there = await readdir(home)
    expect(['.wren', '.config', '.bashrc'].filter((name) => there.includes(name))).toEqual([])
    const written = first.entries.filter(({ type }) => type === 'home_written')
    expect(written).toMatchObject([{ paths: ['~/.config/wren', '~/.wren'] }])

    const second = await again(job, first.agent.id)
    expect(second.seen('before.txt')).toBe('one\nmodel\n')
    expect(second.entries.filter(({ type }) => type === 'home_written')).toEqual([])
    const agent_id = first.agent.id
    expect((await client.call('agents.home', { agent_id })).items).toMatchObject([
      { path: '~/.bashrc', exists: false, problem: expect.stringContaining('stays private') },
      { path: '~/.config/wren', bytes: 6, exists: false, problem: null },
      { path: '~/.wren', bytes: 8, exists: false, problem: null },
    ])
    for (const path of ['~/.bashrc', '~/../etc', '~/.config', '~', '/etc', '~/.ssh', '~/.other', '~/.wren/../.ssh'])
      expect(await refused(client.call('agents.keep', { agent_id, paths: [path] })), path).toMatchObject({
        code: 'validation_failed',
      })

    const kept = await client.call('agents.keep', { agent_id, paths: ['~/.wren'] })
    expect(kept.config.extra_paths).toEqual({ write: [join(home, '.wren')] })
    expect([readFileSync(join(home, '.wren/state.txt'), 'utf8'), existsSync(join(home, '.wren/link'))]).toEqual([
      'one\none\n',
      false,
    ])
    expect((await client.call('agents.home', { agent_id })).items.map(({ path }) => path)).not.toContain('~/.wren')
    const third = await again(job, agent_id)
    expect(third.seen('before.txt')).toBe('one\none\nmodel\n')
    expect(readFileSync(join(home, '.wren/state.txt'), 'utf8')).toBe('one\none\none\n')

    const folder = join(job.running.dataDir, 'homes', agent_id)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    await client.call('agents.delete', { agent_id })
    expect(existsSync(folder)).toBe(false)
  })

  it('gives a person only what lies in it, as it is, when they keep it', async () => {
    await using job = await startJob()
    const { client } = job.running
    await put({ 'Documents/letter.txt': 'hidden', '.ssh/id_ed25519': 'hidden' })
    const secret = join(job.running.dataDir, 'copse.db')
    const command = [
      `touch work.txt; mkdir -p ~/.wren/sub; cd ~/.wren; echo fine > fine.txt`,
      `ln -s ${secret} db; ln -s ../../../Documents/letter.txt letter; ln -s / root; ln -s fine.txt link`,
      'mkfifo pipe; ln fine.txt hard; chmod 4755 fine.txt',
      `${process.execPath} -e "require('net').createServer().listen('socket', () => process.exit())"`,
      `cd ..; ln -s ${home}/.ssh .stone; mkdir .robin; ln -s ../.ssh .robin/ssh; mkfifo .jay`,
      'mkdir .git; echo x > .git/config; echo x > .gdbinit; echo x > .eslintrc.js; echo x > package.json; mkdir -p .config/husky; echo x > .config/husky/init.sh',
    ].join('\n')
    const { run, agent } = await runIn(job, command)
    expect(run, run.error ?? '').toMatchObject({ status: 'succeeded' })
    const agent_id = agent.id
    await client.call('agents.keep', { agent_id, paths: ['~/.wren'] })
    expect((await readdir(join(home, '.wren'))).toSorted()).toEqual(['fine.txt', 'hard', 'link', 'sub'])
    expect(readFileSync(join(home, '.wren/link'), 'utf8')).toBe('fine\n')
    expect(statSync(join(home, '.wren/fine.txt')).mode & 0o7000).toBe(0)
    await client.call('agents.keep', { agent_id, paths: ['~/.robin'] })
    expect(await readdir(join(home, '.robin'))).toEqual([])
    for (const path of [
      '~/.stone',
      '~/.jay',
      '~/.git',
      '~/.gdbinit',
      '~/.eslintrc.js',
      '~/package.json',
      '~/.config/husky',
    ])
      expect(await refused(client.call('agents.keep', { agent_id, paths: [path] })), path).toMatchObject({
        code: 'validation_failed',
      })
  })

  it('shows an unknown agent its own settings, and no other program’s', async () => {
    await using job = await startJob()
    await put({
      'bin/wren':
        '#!/bin/sh\ncat ~/.wren/config > seen.txt; cat ~/.other/config ~/.config/git/config >> seen.txt; echo more >> ~/.wren/config\n',
      '.wren/config': 'model\n',
      '.other/config': 'hidden\n',
    })
    await chmod(join(home, 'bin/wren'), 0o755)
    const { run, seen, entries } = await runIn(job, `MODE=fast ${home}/bin/wren --go`)
    expect(run, run.error ?? '').toMatchObject({ status: 'succeeded' })
    expect(seen('seen.txt')).toBe('model\n')
    expect(readFileSync(join(home, '.wren/config'), 'utf8')).toBe('model\nmore\n')
    expect(entries.filter(({ type }) => type === 'home_written')).toEqual([])
  })

  it('is said where a run fails in it, reads included', async () => {
    await using job = await startJob()
    await put({ '.wren/key': 'hidden' })
    const { task, entries } = await runIn(job, `cat "$HOME/.wren/key"; echo x > /etc/wren.conf; exit 3`)
    const denied = entries.flatMap((entry) => (entry.type === 'denied' ? [entry.target] : []))
    expect(denied.toSorted()).toEqual(['/etc/wren.conf', `${home}/.wren/key`])
    expect(task.error_annotation?.message).toContain(
      `It ran contained, without ${denied.map((path) => `path ${path}`).join(', ')}. If the agent needs it, allow it`,
    )
  })
})
