import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { processesIn } from '../../helpers/processes-in.ts'
import { projectRoot } from '../../helpers/project-root.ts'
import { builtFile } from '../../helpers/built.ts'

test.runIf(process.platform === 'linux')('starts one program there, also for links that begin at once', async () => {
  await builtFile('cli.js')
  const program = join(projectRoot, 'dist', 'runner', 'runner.mjs')
  const folder = await mkdtemp(join(tmpdir(), 'copse-one-'))
  const links = [1, 2, 3].map(() => spawn(process.execPath, [program, 'link', folder], { cwd: folder }))
  try {
    await Promise.all(links.map((link) => once(link.stdout, 'data')))
    // The others end as soon as they find that the folder is taken.
    const runners = () => processesIn([folder]).filter(({ command }) => command.includes(' serve '))
    await expect.poll(runners, { timeout: 20_000 }).toHaveLength(1)
    await once(spawn(process.execPath, [program, 'end', folder]), 'exit')
    await expect.poll(runners, { timeout: 20_000 }).toEqual([])
  } finally {
    for (const link of links) link.kill('SIGKILL')
    for (const { pid } of processesIn([folder])) process.kill(pid, 'SIGKILL')
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
})
