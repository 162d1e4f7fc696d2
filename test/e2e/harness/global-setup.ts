import { dirname } from 'node:path'
import { shareChromium } from '../../helpers/browser.ts'

/** The end-to-end tests drive what is built, so it must be what the sources say; and they need a browser. */
export default async function prepare(): Promise<() => Promise<void>> {
  const script = new URL('../../../scripts/build.mjs', import.meta.url).href
  const { ensureBuilt } = (await import(script)) as { ensureBuilt(bin: string): Promise<void> }
  await ensureBuilt(dirname(process.execPath))
  const shared = await shareChromium()
  return () => shared.close()
}
