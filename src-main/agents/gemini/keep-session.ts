import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Protects a session's file: Gemini CLI names it by the minute in which it opens it, and if it loads a session in the
 * minute in which it started, it overwrites the file before reading it. Renaming it to the minute before is safe,
 * because Gemini finds sessions by content.
 */
export async function keepGeminiSession(folder: string, sessionId: string, now: Date): Promise<void> {
  const projects = await readdirIfThere(join(folder, 'tmp'))
  for (const project of projects) {
    const chats = join(folder, 'tmp', project, 'chats')
    const names = new Set(await readdirIfThere(chats))
    const [current, earlier] = [now, new Date(now.getTime() - 60_000)].map((time) => fileOf(time, sessionId))
    if (current === undefined || earlier === undefined || !names.has(current) || names.has(earlier)) continue
    await rename(join(chats, current), join(chats, earlier))
  }
}

const fileOf = (time: Date, sessionId: string): string =>
  `session-${time.toISOString().slice(0, 16).replace(':', '-')}-${sessionId.slice(0, 8)}.jsonl`

async function readdirIfThere(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}
