import { parseJson } from '../../../src-shared/lang/parse-json.ts'

/** Keeps a text on this device; null forgets it. Where the device keeps no more, nothing older is left there either. */
export function writeLocal(key: string, text: string | null): void {
  if (text === null) return localStorage.removeItem(key)
  try {
    localStorage.setItem(key, text)
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    localStorage.removeItem(key)
  }
}

/** The object that this device keeps as JSON under a key; empty where there is none, or somebody else wrote there. */
export function readLocal(key: string): Readonly<Record<string, unknown>> {
  const kept = parseJson(localStorage.getItem(key) ?? '')
  return typeof kept === 'object' && kept !== null ? { ...kept } : {}
}
