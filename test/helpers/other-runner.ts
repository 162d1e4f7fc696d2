import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'vite'
import { jobProtocol } from '../../src-shared/contract/jobs.ts'
import { projectRoot } from './project-root.ts'

/** Builds the runner's program into a folder as another version would be, and returns it. */
export async function buildOtherRunner(folder: string, protocol: number): Promise<Buffer> {
  let isReplaced = false
  await build({
    configFile: false,
    logLevel: 'silent',
    root: projectRoot,
    ssr: { noExternal: true },
    plugins: [
      {
        name: 'another-version',
        transform: (code, id) => {
          if (!id.endsWith('/contract/jobs.ts')) return null
          isReplaced = code.includes(`jobProtocol = ${jobProtocol}`)
          return code.replace(`jobProtocol = ${jobProtocol}`, `jobProtocol = ${protocol}`)
        },
      },
    ],
    build: {
      ssr: 'src-main/runner.ts',
      outDir: folder,
      emptyOutDir: false,
      target: 'node24',
      rolldownOptions: {
        external: [/^node:/, /^(node-pty|@microsoft\/mxc-sdk)(\/|$)/],
        output: { format: 'es', entryFileNames: 'runner.mjs', codeSplitting: false },
      },
    },
  })
  if (!isReplaced) throw new Error('The version of the protocol is not where it was.')
  return await readFile(join(folder, 'runner.mjs'))
}
