import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createArrivalsFixture, type ArrivalsFixture, type TestJob } from './arrivals-fixture.ts'

const branch = 'refs/heads/copse/task-1'
const zero = '0'.repeat(40)

const line = (content: string | Buffer): Buffer => {
  const bytes = Buffer.from(content)
  return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, '0')), bytes])
}

interface PackedObject {
  readonly type: 1 | 2 | 3 | 4
  readonly content: Buffer
}
interface Delta {
  readonly base: string
  readonly delta: Buffer
}

/** Writes a pack by hand, as no honest git does. */
function packOf(objects: readonly (PackedObject | Delta)[]): Buffer {
  const head = Buffer.alloc(12)
  head.write('PACK')
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(objects.length, 8)
  const parts = objects.flatMap((object) => {
    const content = 'delta' in object ? object.delta : object.content
    const bytes: number[] = []
    let rest = content.length >> 4
    bytes.push((('delta' in object ? 7 : object.type) << 4) | (content.length & 15) | (rest > 0 ? 128 : 0))
    for (; rest > 0; rest >>= 7) bytes.push((rest & 127) | (rest >> 7 > 0 ? 128 : 0))
    const base = 'delta' in object ? Buffer.from(object.base, 'hex') : Buffer.alloc(0)
    return [Buffer.from(bytes), base, deflateSync(content)]
  })
  const body = Buffer.concat([head, ...parts])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}

const names = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' } as const
const idOf = ({ type, content }: PackedObject): string =>
  createHash('sha1').update(`${names[type]} ${content.length}\0`).update(content).digest('hex')

const commitOf = (tree: string, parents: readonly string[]): PackedObject => ({
  type: 1,
  content: Buffer.from(
    `tree ${tree}\n${parents.map((id) => `parent ${id}\n`).join('')}` +
      'author A <a@b.c> 1700000000 +0000\ncommitter A <a@b.c> 1700000000 +0000\n\nx\n',
  ),
})
const treeOf = (entries: readonly (readonly [mode: string, name: string, id: string])[]): PackedObject => ({
  type: 2,
  content: Buffer.concat(
    entries.flatMap(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]),
  ),
})
const emptyTree = treeOf([])

function call(fixture: ArrivalsFixture, job: TestJob, service: string, body: Buffer): Promise<Response> {
  return fetch(`${fixture.url}/api/v1/git/${job.id}.git/${service}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${job.token}`, 'content-type': `application/x-${service}-request` },
    body: new Uint8Array(body),
  })
}

/** Pushes by hand; returns the report. */
async function push(
  fixture: ArrivalsFixture,
  job: TestJob,
  refs: readonly (readonly [from: string, to: string, ref: string])[],
  pack: Buffer,
  before: readonly string[] = [],
): Promise<string> {
  const lines = [
    ...before.map((text) => line(text)),
    ...refs.map(([from, to, ref], index) => line(`${from} ${to} ${ref}${index === 0 ? '\0report-status' : ''}\n`)),
  ]
  const answer = await call(fixture, job, 'git-receive-pack', Buffer.concat([...lines, Buffer.from('0000'), pack]))
  return await answer.text()
}

/** Asks for objects by their IDs; returns what came. */
async function want(fixture: ArrivalsFixture, job: TestJob, ids: readonly string[], more = ''): Promise<Buffer> {
  const lines = ids.map((id, index) => line(`want ${id}${index === 0 ? ' ofs-delta' : ''}\n`))
  const body = Buffer.concat([...lines, ...(more === '' ? [] : [line(more)]), Buffer.from('0000'), line('done\n')])
  return Buffer.from(await (await call(fixture, job, 'git-upload-pack', body)).arrayBuffer())
}

test('lets no hostile push reach an object or ref that is not its own', async () => {
  await using fixture = await createArrivalsFixture()
  const { hidden, base, repository } = fixture
  const job = fixture.job()
  const project = await fixture.projectState()
  const own = await fixture.refs()
  const live = 'refs/svc/live/x'
  const baseTree = await repository.git(['rev-parse', 'main^{tree}'])
  const secret = Buffer.from(`the key ${'x'.repeat(500)}\n`)
  const whole = secret.length
  // A difference that copies the whole base.
  const copyAll = Buffer.from([
    (whole & 127) | 128,
    whole >> 7,
    (whole & 127) | 128,
    whole >> 7,
    0xb0,
    whole & 255,
    whole >> 8,
  ])
  const onHidden = commitOf(idOf(emptyTree), [hidden.commit])
  const withTree = commitOf(hidden.tree, [base])
  const folderTree = treeOf([['40000', 'vault', hidden.folder]])
  const withFolder = commitOf(idOf(folderTree), [base])
  const blobTree = treeOf([['100644', 'key.txt', hidden.blob]])
  const withBlob = commitOf(idOf(blobTree), [base])
  const stolenTree = treeOf([['100644', 'stolen.txt', hidden.blob]])
  const withStolen = commitOf(idOf(stolenTree), [base])
  const modulesTree = treeOf([['100644', '.gitmodules', hidden.blob]])
  const withModules = commitOf(idOf(modulesTree), [base])
  const dotGit = treeOf([['40000', '.git', idOf(emptyTree)]])
  const withDotGit = commitOf(idOf(dotGit), [base])
  const tag: PackedObject = {
    type: 4,
    content: Buffer.from(`object ${hidden.commit}\ntype commit\ntag t\ntagger A <a@b.c> 1700000000 +0000\n\nx\n`),
  }
  const blobTag: PackedObject = {
    type: 4,
    content: Buffer.from(`object ${hidden.blob}\ntype blob\ntag t\ntagger A <a@b.c> 1700000000 +0000\n\nx\n`),
  }
  const none = packOf([])
  const to = (object: PackedObject, ref = live) => [[zero, idOf(object), ref]] as const
  const leans = /The push leans on objects/
  const attack = (refs: Parameters<typeof push>[2], pack: Buffer, before: readonly string[] = []) =>
    push(fixture, job, refs, pack, before)
  const orphan = commitOf(baseTree, ['1'.repeat(40)])
  const attacks: readonly (readonly [string, RegExp, () => Promise<string>])[] = [
    ['a ref on a hidden commit', leans, () => attack([[zero, hidden.commit, live]], none)],
    ['a ref on a hidden tree', /Only commits/, () => attack([[zero, hidden.tree, live]], none)],
    ['a ref on a hidden blob', /Only commits/, () => attack([[zero, hidden.blob, live]], none)],
    ['the branch on a hidden commit', leans, () => attack([[base, hidden.commit, branch]], none)],
    ['a hidden parent', leans, () => attack(to(onHidden), packOf([onHidden, emptyTree]))],
    [
      'a hidden parent, shallow',
      /The clone is shallow/,
      () => attack(to(onHidden), packOf([onHidden, emptyTree]), [`shallow ${idOf(onHidden)}`]),
    ],
    ['a hidden tree', leans, () => attack(to(withTree), packOf([withTree]))],
    ['a hidden folder', leans, () => attack(to(withFolder), packOf([withFolder, folderTree]))],
    ['a hidden blob', leans, () => attack(to(withBlob), packOf([withBlob, blobTree]))],
    ['a hidden blob as .gitmodules', leans, () => attack(to(withModules), packOf([withModules, modulesTree]))],
    [
      'a difference to a hidden blob',
      /unresolved delta/,
      () => attack(to(withStolen), packOf([withStolen, stolenTree, { base: hidden.blob, delta: copyAll }])),
    ],
    ['a tag of a hidden commit', /Only commits/, () => attack(to(tag), packOf([tag]))],
    ['a tag of a hidden blob', /Only commits/, () => attack(to(blobTag), packOf([blobTag]))],
    ['a folder .git', /hasDotgit/, () => attack(to(withDotGit), packOf([withDotGit, dotGit, emptyTree]))],
    ['a missing parent', leans, () => attack(to(orphan), packOf([orphan]))],
    [
      'junk behind the pack',
      /junk/,
      () => attack(to(withTree), Buffer.concat([packOf([withTree]), Buffer.from('rest')])),
    ],
    ['no pack', /The pack is not whole/, () => attack(to(withTree), Buffer.alloc(0))],
  ]
  for (const [name, reason, run] of attacks) {
    const report = await run()
    expect([name, report]).toEqual([name, expect.stringMatching(reason)])
    expect(report).toMatch(/ng refs\//)
    expect(report).not.toMatch(/ok refs\//)
  }
  expect(await fixture.refs()).toEqual(own)

  // Other refs, each refused alone, beside one that may move.
  const honest = commitOf(idOf(emptyTree), [base])
  const others = [
    'refs/heads/main',
    'refs/svc/base',
    'refs/svc/was/x',
    'refs/svc/kept/x',
    'refs/svc/late/x',
    'refs/tags/v1',
    'HEAD',
    'refs/svc/live/../../heads/x',
    'refs/svc/live/a..b',
    'refs/svc/liver/x',
    'config',
  ]
  const mixed = await push(
    fixture,
    job,
    [[zero, idOf(honest), live], ...others.map((ref) => [zero, idOf(honest), ref] as const), [base, zero, branch]],
    packOf([honest, emptyTree]),
  )
  expect(mixed).toContain(`ok ${live}`)
  for (const ref of [...others, branch]) expect(mixed).toContain(`ng ${ref} `)
  expect(await fixture.refs()).toEqual({ ...own, [live]: idOf(honest) })

  // Nothing hidden comes out, however it is asked for.
  const clone = await fixture.clone(job)
  await fixture.git(['fetch', '--quiet', job.url, '+refs/*:refs/all/*'], { cwd: clone })
  for (const id of [hidden.commit, hidden.tree, hidden.folder, hidden.blob]) {
    expect((await want(fixture, job, [id])).toString('latin1')).toContain('ERR ')
    expect((await want(fixture, job, [base, id])).toString('latin1')).toContain('ERR ')
    expect((await fixture.git(['cat-file', '-e', id], { cwd: clone })).ok).toBe(false)
  }
  for (const version of ['0', '2']) {
    const asked = ['-c', `protocol.version=${version}`, 'fetch', '--quiet', job.url, hidden.commit]
    expect((await fixture.git(asked, { cwd: clone })).ok).toBe(false)
  }
  // Nor another object that may be fetched with its commit only.
  expect((await want(fixture, job, [baseTree])).toString('latin1')).toContain('ERR ')
  expect((await want(fixture, job, [base], 'filter blob:none\n')).subarray(0, 8).toString()).not.toContain('PACK')
  const version2 = await fetch(`${fixture.url}/api/v1/git/${job.id}.git/info/refs?service=git-upload-pack`, {
    headers: { authorization: `Bearer ${job.token}`, 'git-protocol': 'version=2' },
  })
  expect(await version2.text()).not.toContain('version 2')
  const command = Buffer.concat([
    line('command=fetch'),
    Buffer.from('0001'),
    line(`want ${hidden.blob}\n`),
    line('done\n'),
    Buffer.from('0000'),
  ])
  expect((await call(fixture, job, 'git-upload-pack', command)).status).toBe(400)
  expect(await fixture.projectState()).toBe(project)
})

test('lets no one in without the token of the job, and names both ways', async () => {
  await using fixture = await createArrivalsFixture()
  const job = fixture.job()
  const other = fixture.job('job-2')
  const look = (authorization: string | null, id = job.id) =>
    fetch(`${fixture.url}/api/v1/git/${id}.git/info/refs?service=git-upload-pack`, {
      headers: authorization === null ? {} : { authorization },
    })
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  const refused = [null, 'Bearer wrong', basic(`${job.token}:wrong`), basic('any:wrong'), `Bearer ${other.token}`]
  for (const authorization of refused) {
    const answer = await look(authorization)
    expect([authorization, answer.status]).toEqual([authorization, 401])
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="Copse job", Bearer')
    expect(await answer.json()).toMatchObject({
      error: { code: authorization === null ? 'missing_token' : 'invalid_token' },
    })
  }
  expect((await look(`Bearer ${job.token}`, 'job-3')).status).toBe(401)
  for (const authorization of [`Bearer ${job.token}`, basic(`anyone:${job.token}`)])
    expect((await look(authorization)).status).toBe(200)
})
