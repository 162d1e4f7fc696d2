import { parseJson } from '../../../src-shared/lang/parse-json.ts'

/** Stores a text on this device; null deletes it. If the storage is full, the key's older text is deleted as well. */
export function writeLocal(key: string, text: string | null): void {
  if (text === null) return localStorage.removeItem(key)
  try {
    localStorage.setItem(key, text)
  } catch (error) {
    if (!(error instanceof DOMException)) throw error
    localStorage.removeItem(key)
  }
}

/**
 * Reads the object that this device stores as JSON under a key. Returns an empty one if the key is
 * absent or holds something else.
 */
export function readLocal(key: string): Readonly<Record<string, unknown>> {
  const kept = parseJson(localStorage.getItem(key) ?? '')
  return typeof kept === 'object' && kept !== null ? { ...kept } : {}
}
