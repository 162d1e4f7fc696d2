import { readdir, readFile } from 'node:fs/promises'

/** The command lines of processes that work in or below a folder, or name it. */
export async function processesIn(folder: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
      return environment.includes(folder) ? await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '') : ''
    }),
  )
  return found.filter((line) => line !== '')
}
