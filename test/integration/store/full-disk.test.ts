import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openDatabase } from '../../../src-main/store/database.ts'
import { startJob } from '../../helpers/job.ts'
import { createLogLines } from '../../helpers/log-lines.ts'
import { refused } from '../../helpers/refusal.ts'
import { runApp } from '../../helpers/running-app.ts'
import { canMount, smallDisk } from '../git/small-disk.ts'
import { migrations, temporaryFolder } from './open-store.ts'

/** Fills the rest of a disk; returns how to free it. */
function fill(folder: string): () => void {
  const file = join(folder, 'filler')
  const handle = openSync(file, 'w')
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    try {
      for (;;) if (writeSync(handle, Buffer.alloc(size, 0x41)) < size) break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
  closeSync(handle)
  return () => rmSync(file)
}

test.runIf(canMount)(
  'says that the disk is full, does nothing by halves, and continues once there is room',
  { timeout: 240_000 },
  async () => {
    await using disk = await smallDisk(12)
    await using running = await runApp({ dataDir: join(disk.path, 'data'), keepData: true })
    const { client } = running
    const { id: agent_id } = await client.call('agents.create', { name: 'Before', executor: 'external' })
    const before = (await client.call('agents.list', {})).items
    const makeRoom = fill(disk.path)
    const said = new Set<string>()
    // A write fits where the journal was before; the one that needs more fails.
    for (let i = 0; said.size === 0 && i < 500; i++) {
      const name = `${i} ${'x'.repeat(90)}`
      const outcome = await client
        .call('agents.create', { name, executor: 'external' })
        .catch((error: unknown) => error)
      if (outcome instanceof Error) said.add(outcome.message)
    }
    expect([...said]).toEqual(['The disk is full. Nothing was changed. Free some space, then try again.'])
    expect((await refused(client.call('agents.update', { agent_id, name: 'After' }))).status).toBe(500)
    expect((await client.call('agents.get', { agent_id })).name).toBe('Before')
    const kept = (await client.call('agents.list', {})).items
    makeRoom()
    expect((await client.call('agents.update', { agent_id, name: 'After' })).name).toBe('After')
    expect((await client.call('agents.list', {})).items).toHaveLength(kept.length)
    expect(kept.length).toBeGreaterThanOrEqual(before.length)
    await running.app.close()
    const again = await openDatabase(join(running.dataDir, 'copse.db'), migrations)
    expect(again.db.$client.pragma('integrity_check', { simple: true })).toBe('ok')
    again.close()
  },
)

test.runIf(canMount)('says at the start that the disk is full', async () => {
  await using disk = await smallDisk(2)
  const makeRoom = fill(disk.path)
  await expect(openDatabase(join(disk.path, 'copse.db'), migrations)).rejects.toMatchObject({
    code: 'database_unusable',
    message: expect.stringContaining('the disk is full') as string,
  })
  makeRoom()
})

test.runIf(canMount)(
  'ends an agent’s run that ended on a full disk once there is room',
  { timeout: 240_000 },
  async () => {
    await using disk = await smallDisk(16)
    await using roomy = await temporaryFolder()
    const { log, line } = createLogLines()
    await using job = await startJob({
      dataDir: join(disk.path, 'data'),
      keepData: true,
      log,
      config: { workspaceRoot: join(roomy.path, 'workspaces') },
    })
    const { client } = job.running
    const go = join(roomy.path, 'go')
    const task = await job.task({ review_config: { ci_steps: ['cat work.txt'] } })
    const agent = await job.agent(`echo work > work.txt; while [ ! -e '${go}' ]; do sleep 0.05; done; echo done`)
    await job.claim(task, agent)
    await job.running.eventually(
      () => job.executions(task.id),
      (all) => all[0]?.status === 'running',
    )
    const makeRoom = fill(disk.path)
    for (let said = false; !said;) {
      const made = client.call('agents.create', { name: 'x'.repeat(90), executor: 'external' })
      said = await made.then(
        () => false,
        () => true,
      )
    }
    await writeFile(go, '')
    await line('a result could not be written; it is kept and retried')
    expect((await job.executions(task.id))[0]?.status).toBe('running')
    makeRoom()
    const passed = await job.running.taskWhere(task.id, ({ review_passed_at }) => review_passed_at !== null)
    expect([passed.status, passed.error_annotation]).toEqual(['review', null])
    expect((await job.executions(task.id)).map(({ status }) => status)).toEqual(['succeeded'])
  },
)
