import { shareChromium } from '../../helpers/browser.ts'
import { ensureBuilt } from '../../helpers/built.ts'

/** The end-to-end tests drive what is built, so it must be what the sources say; and they need a browser. */
export default async function prepare(): Promise<() => Promise<void>> {
  await ensureBuilt()
  const shared = await shareChromium()
  return () => shared.close()
}
