import type { DesktopBridge } from '../src-shared/contract/desktop.ts'

declare global {
  interface Window {
    /** Put there by the preload; absent in a browser. */
    readonly copse?: DesktopBridge
  }
}
