import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execFile, fork } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, test, vi } from 'vitest'
import { removeLeftContainers } from '../../../src-main/containers/leftovers.ts'
import { installationOf } from '../../../src-main/containers/ground.ts'
import { createGitViews } from '../../../src-main/git/view/git-views.ts'
import { createLogger } from '../../../src-main/platform/logging/log.ts'
import { findPeerTrees } from '../../../src-main/platform/process/peer-tree.ts'
import { startContainerBench } from '../../helpers/container-bench.ts'
import { runnerConfig, useTestEngine } from '../../helpers/container-job.ts'
import { containersOf } from '../../helpers/containers-of.ts'
import { present } from '../../helpers/present.ts'
import { projectRoot } from '../../helpers/project-root.ts'

const found = await useTestEngine()
const engine = () => present(found)
const run = promisify(execFile)
const appears = (path: string) => vi.waitUntil(() => existsSync(path), { timeout: 60_000, interval: 20 })
const signal = () => AbortSignal.timeout(60_000)

describe.skipIf(found === null)('a program in a container', () => {
  test('commits in its worktree, as the person, and reaches nothing else of this machine', async () => {
    await using bench = await startContainerBench(runnerConfig(engine()))
    const { repository, dataDir, worktree } = bench
    const common = join(repository.path, '.git')
    const before = await readFile(join(common, 'config'), 'utf8')
    const { out, code } = await bench.run(`
echo work > work.txt && git add -A && git commit -qm Work && git log -1 --format='%an <%ae>'
git config core.fsmonitor 'touch ${dataDir}/escaped' && git config core.hooksPath ${worktree}/hooks
mkdir -p ${common}/hooks && printf '#!/bin/sh\\ntouch ${dataDir}/escaped\\n' > ${common}/hooks/post-checkout && chmod +x ${common}/hooks/post-checkout
git update-ref refs/heads/main HEAD
rm -f .git 2>/dev/null; (echo 'gitdir: /tmp/evil' > .git) 2>/dev/null; cat .git
ls ${dataDir} ${dataDir}/workspaces ${dataDir}/workspaces/other ${repository.path} 2>&1
cat ${dataDir}/secret /etc/shadow 2>&1
[ "$PWD" = ${worktree} ] && echo home=$HOME tmp=$TMPDIR; id -u; cat /proc/self/status | grep -E 'CapEff|NoNewPrivs'`)
    const main = await repository.git(['rev-parse', 'main'])
    expect(out.split('\n')[0]).toBe('Copse tests <tests@copse.test>')
    expect(code).toBe(0)
    expect(out).toContain(`gitdir: ${common}`)
    expect(out).not.toContain('/tmp/evil')
    expect(out).toMatch(/CapEff:\s+0+\nNoNewPrivs:\s+1/)
    expect(out).toContain(`\n${process.getuid?.() ?? 0}\n`)
    expect(out).not.toContain(`home=${worktree}`)
    // Of the data folder it sees the way to its worktree alone.
    expect(out).toContain(`${dataDir}:\nrunners\nworkspaces\n`)
    expect(out).toContain(`${dataDir}/workspaces:\nown\n`)
    expect(out).toContain(`cannot access '${dataDir}/workspaces/other'`)
    expect(out).toContain(`${repository.path}:\n\n`.slice(0, -1))
    expect(await readFile(join(common, 'config'), 'utf8')).toBe(before)
    expect(existsSync(join(common, 'hooks', 'post-checkout'))).toBe(false)
    expect(await repository.git(['show', 'own:work.txt'])).toBe('work')
    expect(await repository.git(['rev-parse', 'main'])).toBe(main)
    expect(await repository.git(['log', '--format=%s', 'main'])).not.toContain('Work')
    await repository.git(['status'], { cwd: worktree })
    expect(existsSync(join(dataDir, 'escaped'))).toBe(false)
    expect(await containersOf(engine(), dataDir)).toEqual([])
  })

  test('has its variables, which no one else can read, and none of the service’s', async () => {
    process.env['COPSE_TEST_OF_PERSON'] = 'persons-own-value'
    await using bench = await startContainerBench(runnerConfig(engine()))
    const secret = `secret-${process.pid}-value`
    const env = { MY_KEY: `two\nlines '${secret}'` }
    const tree = await bench.start(
      'printf %s "$MY_KEY" > seen; env > env; touch ready; while [ ! -e go ]; do sleep 0.05; done',
      { env },
    )
    await appears(join(bench.worktree, 'ready'))
    const lines = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const commands = await Promise.all(lines.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
    expect(commands.some((line) => line.includes('copse.installation'))).toBe(true)
    expect(commands.join('\n')).not.toContain(secret)
    const [id = ''] = await containersOf(engine(), bench.dataDir)
    const { stdout } = await run(engine().engine, ['inspect', id])
    expect(stdout).not.toContain(secret)
    await writeFile(join(bench.worktree, 'go'), '')
    expect((await tree.ended).exit_code).toBe(0)
    expect(await readFile(join(bench.worktree, 'seen'), 'utf8')).toBe(env.MY_KEY)
    const inside = await readFile(join(bench.worktree, 'env'), 'utf8')
    expect(inside).toMatch(/^PATH=\/usr\/bin$/m)
    expect(inside).not.toContain('persons-own-value')
  })

  test('saves its work when it is told to end, and leaves nothing', async () => {
    await using bench = await startContainerBench(runnerConfig(engine()))
    const tree = await bench.start(
      `env -i setsid sleep 4711 &
sh -c 'trap "sleep 0.2; echo saved >> saved; exit 0" TERM; touch ready; while :; do sleep 0.05; done'`,
    )
    await appears(join(bench.worktree, 'ready'))
    await tree.stop({ graceMs: 5_000 })
    await tree.ended
    expect(await readFile(join(bench.worktree, 'saved'), 'utf8')).toBe('saved\n')
    expect(await containersOf(engine(), bench.dataDir)).toEqual([])
    expect((await run('ps', ['ax', '-o', 'args'])).stdout).not.toContain('sleep 4711')
  })

  test.each([
    ['its client is killed', async (pid: number) => void process.kill(pid, 'SIGKILL')],
    ['its container is killed', async (_pid: number, id: string) => void (await run(engine().engine, ['kill', id]))],
  ])('ends whole if %s', async (_what, kill) => {
    await using bench = await startContainerBench(runnerConfig(engine()))
    const tree = await bench.start('echo work > work.txt; git add -A; git commit -qm Work; touch ready; sleep 4712')
    await appears(join(bench.worktree, 'ready'))
    const [id = ''] = await containersOf(engine(), bench.dataDir)
    await kill(tree.process.pid, id)
    expect((await tree.ended).exit_code).not.toBe(0)
    expect(await containersOf(engine(), bench.dataDir)).toEqual([])
    expect((await run('ps', ['ax', '-o', 'args'])).stdout).not.toContain('sleep 4712')
    // What it committed is taken over all the same.
    expect(await bench.repository.git(['show', 'own:work.txt'])).toBe('work')
  })

  test('ends with its service, even when that is killed, and its work is taken over by the next one', async () => {
    const service = fork(join(projectRoot, 'test/helpers/container-run-process.ts'))
    service.send(runnerConfig(engine()))
    const [at] = (await once(service, 'message')) as [Readonly<Record<'dataDir' | 'worktree' | 'repository', string>>]
    await appears(join(at.worktree, 'ready'))
    expect(await containersOf(engine(), at.dataDir)).toHaveLength(1)
    service.kill('SIGKILL')
    await once(service, 'exit')
    const log = createLogger({ level: 'silent' })
    await removeLeftContainers(runnerConfig(engine()), { dataDir: at.dataDir, signal: signal(), log })
    expect(await containersOf(engine(), at.dataDir)).toEqual([])
    expect((await run('ps', ['ax', '-o', 'args'])).stdout).not.toContain('sleep 4715')
    await createGitViews({ dataDir: at.dataDir }).takeOver()
    expect((await run('git', ['-C', at.repository, 'show', 'own:work.txt'])).stdout).toBe('work\n')
    for (const folder of [dirname(at.repository), dirname(at.dataDir)]) await rm(folder, { recursive: true })
  })

  test('is found by its label after its service was killed', async () => {
    await using bench = await startContainerBench(runnerConfig(engine()))
    const { dataDir, containment } = bench
    const leave = async (job: string) => {
      const labels = ['--label', `copse.installation=${installationOf(dataDir)}`, '--label', `copse.job=${job}`]
      await run(engine().engine, ['run', '--detach', '--pull', 'never', ...labels, engine().image, 'sleep', '4713'])
    }
    await Promise.all([leave('one'), leave('two')])
    await containment.removeRun('one', { signal: signal() })
    expect(await containersOf(engine(), dataDir)).toHaveLength(1)
    const log = createLogger({ level: 'silent' })
    await removeLeftContainers(runnerConfig(engine()), { dataDir, signal: signal(), log })
    expect(await containersOf(engine(), dataDir)).toEqual([])
  })

  test('reaches Copse without a network, as the run that it is, and nothing else', async () => {
    const callers: (readonly string[] | null)[] = []
    const server = createServer((request, response) => {
      void findPeerTrees(request.socket).then((trees) => {
        callers.push(trees === null ? null : trees.map(({ env }) => env['SVC_API_TOKEN'] ?? ''))
        response.end('reached\n')
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const other = createServer((_request, response) => response.end('other\n')).listen(0, '127.0.0.1')
    await once(other, 'listening')
    await using bench = await startContainerBench(runnerConfig(engine(), { network: 'none' }), () => url)
    const { out } = await bench.run(
      `curl -sS "$SVC_API_URL/healthz"; curl -sS -m 2 http://127.0.0.1:${(other.address() as AddressInfo).port} || echo closed; cat /proc/net/route | wc -l`,
      { env: { SVC_API_URL: url, SVC_API_TOKEN: 'token-of-run' } },
    )
    expect(out).toMatch(/^reached\nclosed\n1\n/)
    expect(callers).toEqual([['token-of-run']])
    expect(bench.containment.effectiveLevel('none')).toBe('worktree_and_hosts')
    server.close()
    other.close()
  })

  test('has the runner’s tools first, made once', async () => {
    const tool = `printf '#!/bin/sh\\necho 9.8.7 of the tools\\n' > "$SVC_TOOLS_DIR/bin/claude" && chmod +x "$SVC_TOOLS_DIR/bin/claude"`
    const config = runnerConfig(engine(), {
      setup: [`echo once >> "$SVC_TOOLS_DIR/count"`, tool],
    })
    await using bench = await startContainerBench(config)
    const both = await Promise.all([
      bench.run('claude; touch "$SVC_TOOLS_DIR/x" 2>&1'),
      bench.run('claude; cat "$SVC_TOOLS_DIR/count"'),
    ])
    expect(both[0].out).toMatch(/^9\.8\.7 of the tools\n.*Read-only/)
    expect(both[1].out).toBe('9.8.7 of the tools\nonce')
    const { programs } = bench.containment
    const at = present(await programs.find('claude', { signal: signal() }))
    expect(at).toMatch(/\/tools\/[0-9a-f]+\/bin\/claude$/)
    expect(await programs.find('codex', { signal: signal() })).toBe(null)
    expect((await programs.ask(at, ['--version'], { signal: signal() }))?.stdout).toBe('9.8.7 of the tools\n')
  })

  test('is refused what it must not see, and says why', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'copse-outside-'))
    await writeFile(join(folder, 'file'), 'text')
    await using bench = await startContainerBench(runnerConfig(engine(), { mounts: { read: [folder], write: [] } }))
    const { out } = await bench.run(`cat ${folder}/file; echo x > ${folder}/file`)
    expect(out).toMatch(/^text.*Read-only/s)
    const wanted = async (write: string) => await bench.run('true', { request: { write: [write] } })
    await expect(wanted(bench.dataDir)).rejects.toThrow('holds the data folder of Copse')
    await expect(wanted(join(bench.dataDir, 'workspaces', 'other'))).rejects.toThrow('lies in the data folder')
    await expect(wanted('/')).rejects.toThrow('all of this machine')
    await expect(wanted(join(folder, 'missing'))).rejects.toThrow('which is not there')
    await mkdir(join(folder, 'later'))
    expect(
      (await bench.run(`echo y > ${folder}/later/file`, { request: { write: [join(folder, 'later')] } })).code,
    ).toBe(0)
    await using absent = await startContainerBench({
      ...runnerConfig(engine()),
      image: 'localhost/copse-test/absent:1',
    })
    await expect(absent.run('true')).rejects.toThrow('pull localhost/copse-test/absent:1')
    await using broken = await startContainerBench(
      runnerConfig(engine(), { setup: ['true', 'echo no such tool >&2; exit 3'] }),
    )
    await expect(broken.run('true')).rejects.toThrow('failed (exit 3): no such tool')
    await rm(folder, { recursive: true })
  })
})
