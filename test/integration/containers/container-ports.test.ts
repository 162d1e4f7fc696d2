import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { runnerConfig, startContainerJob, useTestEngine } from '../../helpers/container-job.ts'
import { present } from '../../helpers/present.ts'

const found = await useTestEngine()
const patient = { timeout: 60_000 }

/** What a program of the container answers that says what it hears once it has heard all. */
const said = (port: number, words: string): Promise<string> =>
  text(createConnection({ port, host: '127.0.0.1', allowHalfOpen: true }).end(words)).catch(
    (error: Error) => error.message,
  )

test.skipIf(found === null).each(['open', 'none'] as const)(
  'reaches what listens in a container with the network %s',
  async (network) => {
    await using job = await startContainerJob(runnerConfig(present(found), { network }))
    const { client, dataDir } = job.running
    const socat = `s=$(ls -d ${dataDir}/runners/socat/*/); set -- "$s"ld-*; [ -e "$1" ] && set -- "$1" --library-path "$s"`
    const listen = `"$@" "$s"socat -t 60 TCP4-LISTEN:$((SVC_PORT_BASE + 3)),bind=127.0.0.1,fork,reuseaddr EXEC:cat &`
    const agent = await job.agent(
      `${socat}; ${listen} server=$!; until [ -e go.txt ]; do sleep 0.1; done; kill $server`,
    )
    const task = await job.task()
    const { path } = await job.claim(task, agent)
    const { port_base } = await job.running.taskWhere(task.id, (one) => one.port_base !== null)
    const port = (port_base ?? 0) + 3
    const previews = async () => (await client.call('tasks.previews', { project_id: task.project_id })).items
    await expect.poll(previews, patient).toEqual([{ port_base, port }])
    expect(await Promise.all([said(port, 'one'), said(port, 'two')])).toEqual(['one', 'two'])
    expect(existsSync(path)).toBe(true)
    await writeFile(join(path, 'go.txt'), '')
    await expect.poll(previews, patient).toEqual([])
    expect(await said(port, 'one')).toContain('ECONNREFUSED')
    await job.running.taskWhere(task.id, (one) => one.error_annotation !== null || one.status === 'review')
  },
)
