import { describe, expect, test } from 'vitest'
import {
  containerConfig,
  containerDraft,
  missingOfContainer,
  networkChoices,
} from '../../../../src-renderer/features/settings/runners/container-draft.ts'
import {
  missingOf,
  newRunnerKinds,
  runnerDraft,
  runnerFields,
} from '../../../../src-renderer/features/settings/runners/runner-draft.ts'
import { missingOfSsh, sshConfig, sshDraft } from '../../../../src-renderer/features/settings/runners/ssh-draft.ts'
import { ProjectId, RunnerId } from '../../../../src-shared/contract/ids.ts'
import {
  canMakeRunner,
  ContainerConfig,
  NewRunnerKind,
  runnerKinds,
  type Runner,
} from '../../../../src-shared/contract/runners.ts'

const config = ContainerConfig.parse({
  engine: 'unix:///run/podman.sock',
  image: 'node:24',
  cpus: 0.5,
  memory_mb: 512,
  network: 'none',
  mounts: { read: ['~/data', '/usr/share'], write: ['~/out'] },
  setup: ['npm i -g a', 'if true; then\n  echo two lines\nfi'],
})
const box: Runner = {
  id: RunnerId.parse('01990031-0000-7000-8000-000000000001'),
  name: 'Box',
  kind: 'container',
  config,
  projects: [ProjectId.parse('01990001-0000-7000-8000-000000000001')],
  capacity: 2,
  running: 0,
  grace_seconds: 600,
  state: 'ready',
  last_error: null,
  created_at: '2026-11-28T09:00:00.000Z',
}

test('offers the types of runners and networks that the contract does not refuse', () => {
  expect(runnerKinds.filter(canMakeRunner)).toEqual(runnerKinds.filter((kind) => NewRunnerKind.safeParse(kind).success))
  expect(newRunnerKinds).toContain('container')
  for (const kind of newRunnerKinds) expect(canMakeRunner(kind), kind).toBe(true)
  expect(networkChoices.map(({ id }) => id)).toEqual(['open', 'hosts', 'none'])
})

test('saves an opened runner unchanged', () => {
  const { name, projects, capacity } = box
  expect(runnerFields(runnerDraft(box), box)).toEqual({ name, projects, capacity, config })
  const plain = { ...box, config: ContainerConfig.parse({ image: 'any' }), projects: null }
  expect(runnerFields(runnerDraft(plain), plain)).toMatchObject({ projects: null, config: plain.config })
})

describe('a container', () => {
  test('is sent without empty fields, with one command per line', () => {
    const draft = {
      ...containerDraft(),
      image: ' node:24 ',
      setup: ' a \n\n b ',
      read: '~/x\n',
      engine: 'podman',
    } as const
    expect(containerConfig(draft)).toEqual({
      engine: 'podman',
      image: 'node:24',
      devcontainer: false,
      network: 'open',
      mounts: { read: ['~/x'], write: [] },
      setup: ['a', 'b'],
    })
    const changed = { ...containerDraft(config), setup: 'only this' }
    expect(containerConfig(changed, config).setup).toEqual(['only this'])
  })
  test('is made from the dev container of each project instead of an image', () => {
    const draft = { ...containerDraft(), source: 'project', image: 'left:1' } as const
    expect(missingOfContainer({ ...draft, image: '' })).toBeNull()
    const sent = containerConfig(draft)
    expect(sent).toEqual({ engine: null, devcontainer: true, network: 'open', setup: [] })
    expect(ContainerConfig.parse(sent)).toEqual(sent)
    expect(containerConfig(containerDraft(sent), sent)).toEqual(sent)
  })
  test('says what is missing before anything is sent', () => {
    const draft = { ...containerDraft(), image: 'node:24' }
    expect(missingOfContainer(draft)).toBeNull()
    expect(missingOfContainer({ ...draft, image: ' ' })).toBe('Name an image')
    expect(missingOfContainer({ ...draft, image: 'a b' })).toContain('no spaces')
    expect(missingOfContainer({ ...draft, engine: 'socket', socket: '/run/x.sock' })).toContain('unix:///')
    expect(missingOfContainer({ ...draft, engine: 'socket', socket: 'unix:///run/x.sock' })).toBeNull()
    expect(missingOfContainer({ ...draft, cpus: '0' })).toContain('processors')
    expect(missingOfContainer({ ...draft, memory: '63' })).toContain('64 MB')
  })
})

describe('a machine reached by SSH', () => {
  const draft = { host: ' me@build ', port: '2222', sshConfig: '/etc/ssh/copse', folder: 'work/copse' }
  test('is sent without empty fields, and reopened unchanged', () => {
    const full = { host: 'me@build', port: 2_222, ssh_config: '/etc/ssh/copse', folder: 'work/copse' }
    expect(sshConfig(draft)).toEqual(full)
    expect(sshConfig(sshDraft(full))).toEqual(full)
    expect(sshConfig({ ...sshDraft(), host: 'build' })).toEqual({ host: 'build' })
  })
  test('says what is missing before anything is sent', () => {
    expect(missingOfSsh(draft)).toBeNull()
    expect(missingOfSsh({ ...draft, host: '' })).toBe('Name the host')
    expect(missingOfSsh({ ...draft, host: '-oProxyCommand=x' })).toContain('in front')
    expect(missingOfSsh({ ...draft, port: '70000' })).toContain('port')
    expect(missingOfSsh({ ...draft, sshConfig: 'config' })).toContain('absolute')
    expect(missingOfSsh({ ...draft, folder: '~/copse' })).toContain('below the home')
  })
})

test('needs a name, a number of runs, and a project where not all are meant', () => {
  const draft = { ...runnerDraft(), name: 'Box', container: { ...containerDraft(), image: 'any' } }
  expect(missingOf(draft)).toBeNull()
  expect(missingOf({ ...draft, name: ' ' })).toBe('A runner needs a name')
  for (const capacity of ['', '0', '1.5', '1001']) expect(missingOf({ ...draft, capacity }), capacity).toContain('1000')
  expect(missingOf({ ...draft, projects: [] })).toContain('project')
  expect(missingOf({ ...draft, kind: 'ssh' })).toBe('Name the host')
})

test('sends how long a run may be out of contact for machines over SSH only', () => {
  const draft = { ...runnerDraft(), name: 'Far', grace: '60', ssh: { ...sshDraft(), host: 'far' } }
  expect(runnerDraft().grace).toBe('600')
  expect(runnerFields({ ...draft, kind: 'ssh' })).toMatchObject({ grace_seconds: 60 })
  expect(runnerFields({ ...draft, kind: 'container' })).not.toHaveProperty('grace_seconds')
  for (const grace of ['', '-1', '1.5', '86401']) expect(missingOf({ ...draft, kind: 'ssh', grace })).toContain('86400')
  expect(missingOf({ ...draft, kind: 'container', grace: '' })).toBe('Name an image')
})
