import { dirname } from 'node:path'

/** The end-to-end tests drive what is built, so it must be what the sources say. */
export default async function build(): Promise<void> {
  const script = new URL('../../../scripts/build.mjs', import.meta.url).href
  const { ensureBuilt } = (await import(script)) as { ensureBuilt(bin: string): Promise<void> }
  await ensureBuilt(dirname(process.execPath))
}
