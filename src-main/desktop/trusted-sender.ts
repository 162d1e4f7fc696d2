import type { WebContents, WebFrameMain } from 'electron'
import { appOrigin } from './app-protocol.ts'

/** What an IPC event says of who sent it. */
export interface Sender {
  readonly sender: Pick<WebContents, 'mainFrame'>
  readonly senderFrame: Pick<WebFrameMain, 'url'> | null
}

/** Only the app's own page in a window's main frame may call: no frame within it, no page it was led to. */
export function isTrustedSender({ sender, senderFrame }: Sender): boolean {
  return senderFrame !== null && senderFrame === sender.mainFrame && isAppUrl(senderFrame.url)
}

/** Whether an address is the app's own page. */
export function isAppUrl(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && url.protocol === `${appOrigin.scheme}:` && url.host === appOrigin.host
}

/** Whether an address may be handed to the person's browser: web pages only, no files and no programs. */
export function isWebUrl(address: string): boolean {
  const protocol = URL.parse(address)?.protocol
  return protocol === 'https:' || protocol === 'http:'
}
