import { EventEmitter } from 'node:events'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { CDPSession, Page } from 'playwright-core'
import { toApp, toPage } from './app-scheme.ts'
import { openPage } from './browser.ts'
import { ipcMain } from './ipc-main.ts'
import { preloadWorld, worldScripts } from './worlds.ts'

type OpenHandler = (details: { readonly url: string }) => { readonly action: 'allow' | 'deny' }
type Message = { readonly id: number | null; readonly channel: string; readonly args: readonly unknown[] }

/** One page: its preload's world, its messages, and where it may navigate. */
export class WebContents extends EventEmitter {
  /** The same object as long as the page is the app's, like Electron's frames. */
  readonly mainFrame = { url: 'about:blank' }
  readonly ready: Promise<{ readonly page: Page; readonly cdp: CDPSession }>
  #world: number | null = null
  #openHandler: OpenHandler = () => ({ action: 'allow' })
  #loading = false
  #destroyed = false

  constructor(preload: string) {
    super()
    this.ready = this.#attach(preload)
  }

  async load(address: string): Promise<void> {
    const { page } = await this.ready
    this.#loading = true
    try {
      await page.goto(await toPage(address), { waitUntil: 'load' })
    } finally {
      this.#loading = false
    }
  }

  send(channel: string, ...args: unknown[]): void {
    void this.#deliver('push', { channel, args })
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.#openHandler = handler
  }

  isDestroyed(): boolean {
    return this.#destroyed
  }

  async #attach(preload: string): Promise<{ page: Page; cdp: CDPSession }> {
    const { page, cdp } = await openPage()
    const scripts = worldScripts(readFileSync(preload, 'utf8'), `standin-${randomUUID()}`)
    cdp.on('Runtime.executionContextCreated', ({ context }) => {
      if (context.name === preloadWorld) this.#world = context.id
    })
    cdp.on('Runtime.bindingCalled', ({ executionContextId, payload }) => {
      if (executionContextId === this.#world) void this.#receive(JSON.parse(payload) as Message)
    })
    cdp.on('Page.windowOpen', ({ url }) => void this.#openHandler({ url }))
    page.on('close', () => {
      this.#destroyed = true
      this.emit('destroyed')
    })
    await cdp.send('Page.enable')
    const mainFrame = (await cdp.send('Page.getFrameTree')).frameTree.frame.id
    await cdp.send('Runtime.enable')
    await cdp.send('Runtime.addBinding', { name: 'copseStandinSend', executionContextName: preloadWorld })
    await cdp.send('Page.addScriptToEvaluateOnNewDocument', { source: scripts.page })
    await cdp.send('Page.addScriptToEvaluateOnNewDocument', { source: scripts.preload, worldName: preloadWorld })
    cdp.on('Fetch.requestPaused', ({ requestId, request, frameId }) => {
      void this.#decide(cdp, page, { requestId, address: request.url, main: frameId === mainFrame })
    })
    await cdp.send('Fetch.enable', { patterns: [{ resourceType: 'Document' }] })
    return { page, cdp }
  }

  /** A navigation by the page or a frame in it proceeds unless the app prevents it. */
  async #decide(
    cdp: CDPSession,
    page: Page,
    { requestId, address, main }: { readonly requestId: string; readonly address: string; readonly main: boolean },
  ): Promise<void> {
    let prevented = false
    const url = await toApp(address)
    const event = { url, isMainFrame: main, isSameDocument: false, preventDefault: () => (prevented = true) }
    if (!this.#loading && address !== page.url()) {
      this.emit('will-frame-navigate', event, url)
      if (main && !prevented) this.emit('will-navigate', event, url)
    }
    if (main && !prevented) {
      this.emit('did-start-navigation', event)
      this.mainFrame.url = url
    }
    if (prevented) await cdp.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' })
    else await cdp.send('Fetch.continueRequest', { requestId })
  }

  async #receive({ id, channel, args }: Message): Promise<void> {
    const event = { sender: this, senderFrame: this.mainFrame }
    if (id === null) {
      ipcMain.emit(channel, event, ...args)
      return
    }
    try {
      await this.#deliver('reply', { id, value: await ipcMain.invoke(channel, event, args) })
    } catch (error) {
      await this.#deliver('reply', { id, error: error instanceof Error ? error.message : String(error) })
    }
  }

  async #deliver(kind: string, data: unknown): Promise<void> {
    const { cdp } = await this.ready
    if (this.#world === null || this.#destroyed) return
    const expression = `copseStandinReceive(${JSON.stringify(kind)}, ${JSON.stringify(data)})`
    try {
      await cdp.send('Runtime.evaluate', { contextId: this.#world, expression })
    } catch (error) {
      // The page has navigated or gone, so the message is dropped, as in Electron.
      if (!this.#destroyed && process.env['COPSE_STANDIN_DEBUG']) console.error(error)
    }
  }
}
