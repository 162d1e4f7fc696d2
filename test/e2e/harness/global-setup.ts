import { shareChromium } from '../../helpers/browser.ts'
import { ensureBuilt } from '../../helpers/built.ts'

/** The end-to-end tests drive the build, so it must match the sources; and they need a browser. */
export default async function prepare(): Promise<() => Promise<void>> {
  await ensureBuilt()
  const shared = await shareChromium()
  return () => shared.close()
}
