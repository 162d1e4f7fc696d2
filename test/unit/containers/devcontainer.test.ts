import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { endOf } from '../../../src-main/containers/devcontainer/build-image.ts'
import { DevcontainerConfig, wantsOf, type Metadata } from '../../../src-main/containers/devcontainer/config.ts'
import { environmentOf } from '../../../src-main/containers/devcontainer/environment.ts'
import { startScript } from '../../../src-main/containers/start-script.ts'

const of = (metadata: readonly Metadata[], cwd = '/trees/one', config: DevcontainerConfig = {}) =>
  environmentOf({ config, metadata, imageUser: '', cwd })
const sh = (script: string, env: Readonly<Record<string, string>> = {}) =>
  execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { PATH: process.env['PATH'] ?? '', ...env } })

describe('what a dev container reaches', () => {
  test('is named once, whether the configuration, a feature or the image says it', () => {
    const config = DevcontainerConfig.parse({
      image: 'any:1',
      initializeCommand: { deps: 'npm ci', keys: ['./keys.sh', 'one two'] },
      mounts: ['source=a,target=/a,type=volume', { type: 'bind', source: '/b', target: '/b' }],
      build: { options: ['--network=host'], args: { TOKEN: '${localEnv:TOKEN}' } },
      runArgs: ['--gpus', 'all'],
      privileged: false,
    })
    const feature = { privileged: true, mounts: ['source=a,target=/a,type=volume'], capAdd: ['NET_ADMIN'] }
    expect(wantsOf(config, [feature, { securityOpt: ['seccomp=unconfined'] }])).toEqual([
      { kind: 'command', text: 'npm ci' },
      { kind: 'command', text: './keys.sh one two' },
      { kind: 'mount', text: 'source=a,target=/a,type=volume' },
      { kind: 'mount', text: 'type=bind,source=/b,target=/b' },
      { kind: 'privilege', text: 'privileged' },
      { kind: 'privilege', text: 'capAdd NET_ADMIN' },
      { kind: 'privilege', text: 'securityOpt seccomp=unconfined' },
      { kind: 'privilege', text: 'runArgs --gpus' },
      { kind: 'privilege', text: 'runArgs all' },
      { kind: 'privilege', text: 'build.options --network=host' },
      { kind: 'variable', text: 'TOKEN' },
    ])
    expect(wantsOf({ image: 'any:1', postCreateCommand: 'npm ci', features: { './x': {} } }, [])).toEqual([])
  })
})

describe('how programs run in a dev container', () => {
  test('has its variables, which name each other and hold any text', () => {
    const { variables } = of([
      { containerEnv: { KIND: 'first', PLACE: '${containerWorkspaceFolder}/x' } },
      { containerEnv: { KIND: `it's "two"; $(touch no) \`x\`` }, remoteEnv: { GONE: null } },
      {
        remoteEnv: {
          PATH: '${containerEnv:PATH}:/opt/bin',
          ELSE: '${containerEnv:ABSENT:a b}',
          NONE: '${containerEnv:ABSENT}',
          'not a name': 'x',
        },
      },
    ])
    const out = sh(`${variables}printf '%s\\n' "$KIND" "$PLACE" "\${GONE-none}" "$PATH" "$ELSE" "[$NONE]"`, {
      PATH: '/usr/bin:/bin',
      GONE: 'there',
    })
    expect(out.split('\n')).toEqual([
      `it's "two"; $(touch no) \`x\``,
      '/trees/one/x',
      'none',
      '/usr/bin:/bin:/opt/bin',
      'a b',
      '[]',
      '',
    ])
  })
  test('runs the commands of features and configuration in order, and stops at one that fails', () => {
    const { creation } = of([
      { onCreateCommand: 'echo feature' },
      { onCreateCommand: ['echo', 'a  b'], postCreateCommand: { one: 'echo 1', two: 'exit 3' } },
      { updateContentCommand: 'echo content; cd /', postCreateCommand: 'echo never' },
    ])
    const told = sh(
      `${creation.replaceAll(' || exit\n', ' || { echo "failed $?"; exit 0; }\n').replace('wait "$part" || exit;', 'wait "$part" || { echo "failed $?"; exit 0; };')}`,
    )
    expect(told.split('\n').filter((line) => !line.startsWith('$ '))).toEqual([
      'feature',
      'a  b',
      'content',
      '1',
      'failed 3',
      '',
    ])
    expect(of([{}]).creation).toBe('')
  })
  test('starts what features and the project start before the program, apart from its output', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'copse-start-')))
    try {
      const dev = of([{ entrypoint: `echo entry > ${folder}/entry` }, { postStartCommand: 'echo loud; cat' }])
      const file = (text: string) =>
        `cat > ${folder}/start <<'EOF'\n${text}EOF\nsh ${folder}/start sh -c 'cat ${folder}/entry; echo "$SECRET"' 2>/dev/null`
      const script = (one: typeof dev) =>
        file(startScript({ env: { HOME: '/', SECRET: 'kept' }, tools: null, listening: '', dev: one }))
      expect(sh(script(dev))).toBe('entry\nkept\n')
      const failing = of([{ postStartCommand: 'false' }])
      expect(() => sh(script(failing))).toThrow('Command failed')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
  test('has the home of its user where that can be written to, unless the run has its own', async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'copse-home-')))
    try {
      const { username, homedir } = userInfo()
      const script = async (user: string, isUsersHome: boolean) => {
        const start = join(folder, 'start')
        const dev = of([{ remoteUser: user }])
        await writeFile(start, startScript({ env: { HOME: '/run/own' }, tools: null, listening: '', dev, isUsersHome }))
        return sh(`sh ${start} sh -c 'echo "$HOME"'`)
      }
      expect(await script(username, true)).toBe(`${homedir}\n`)
      expect(await script(username, false)).toBe('/run/own\n')
      expect(await script('no such user', true)).toBe('/run/own\n')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
  test('adds what was trusted, but no name and no other end', async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'copse-mount-')))
    const cwd = join(root, 'tree')
    try {
      await mkdir(join(cwd, 'data'), { recursive: true })
      const mounts = ['source=${localWorkspaceFolder}/data,target=/data,type=bind']
      const metadata = [{ mounts, capAdd: ['SYS_PTRACE'] }, { privileged: true }]
      const runArgs = ['--rm', '--name', 'mine', '--name=yours', '--device=/dev/kvm', '-d']
      expect(of(metadata, cwd, { runArgs }).args).toEqual([
        ...['--mount', `source=${cwd}/data,target=/data,type=bind`],
        ...['--privileged', '--cap-add', 'SYS_PTRACE', '--device=/dev/kvm'],
      ])
      await rm(join(cwd, 'data'), { recursive: true })
      await symlink(root, join(cwd, 'data'))
      expect(() => of([{ mounts }], cwd)).toThrow('leads out of the worktree')
      const quotedMount = '"source=${localWorkspaceFolder}/data",target=/data,type=bind'
      expect(() => of([{ mounts: [quotedMount] }], cwd)).toThrow('leads out of the worktree')
      for (const args of [
        ['--volume=${localWorkspaceFolder}/data/x/..:/data'],
        ['-v', '${localWorkspaceFolder}/data:/data:ro'],
      ])
        expect(() => of([], cwd, { runArgs: args })).toThrow('leads out of the worktree')
      const named = ['--label=out=${localWorkspaceFolder}/made-later']
      expect(of([], cwd, { runArgs: named }).args).toEqual([`--label=out=${cwd}/made-later`])
      await symlink('/not/there/yet', join(cwd, 'later'))
      const later = ['-v', '${localWorkspaceFolder}/later/x:/x']
      expect(() => of([], cwd, { runArgs: later })).toThrow('leads out of the worktree')
      // Rules that a branch could change are none.
      const securityOpt = ['seccomp=${localWorkspaceFolder}/seccomp.json']
      expect(() => of([{ securityOpt }], cwd)).toThrow('where a branch can change them')
    } finally {
      await rm(root, { recursive: true })
    }
  })
  test('is as the last says that names a user', () => {
    expect(of([{ containerUser: 'one' }, { containerUser: 'two' }]).user).toBe('two')
    expect(of([{ remoteUser: 'dev' }, { containerUser: 'two' }]).user).toBe('dev')
    expect(of([]).user).toBe('root')
  })
})

test('shows the end of a log without its times and what the CLI says of itself', () => {
  const log = `[2026-11-28T19:41:23.590Z] Start: Run: podman build
[2026-11-28T19:41:24.590Z] STEP 2/2: RUN false
Error: building at STEP "RUN false": exit status 1
Exit code 1
Error: Command failed: podman build -f x
    at IW (devContainersSpecCLI.js:470:2009)
{"outcome":"error"}
`
  expect(endOf(log)).toBe('STEP 2/2: RUN false\nError: building at STEP "RUN false": exit status 1')
})
