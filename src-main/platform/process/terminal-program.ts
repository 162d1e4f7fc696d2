import { spawn } from 'node:child_process'
import { once } from 'node:events'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Shows text in a pager, given as a shell's command line like `less -R`, which has the user's terminal until it
 * exits. Returns false if there is no such program.
 */
export async function showInPager(commandLine: string, text: string, env: Environment): Promise<boolean> {
  const pager = spawn(commandLine, { shell: true, stdio: ['pipe', 'inherit', 'inherit'], env: { ...env } })
  // The pager handles Ctrl-C, and a user who leaves it early wants no more text.
  const ignore = () => undefined
  process.on('SIGINT', ignore)
  pager.stdin.on('error', ignore)
  try {
    pager.stdin.end(text)
    const [code] = (await once(pager, 'exit')) as [number | null]
    return code !== 126 && code !== 127
  } finally {
    process.off('SIGINT', ignore)
  }
}

/** Runs a program that has the user's terminal until it exits; resolves with its exit code, null for a signal. */
export async function runOnTerminal(program: string, args: readonly string[]): Promise<number | null> {
  const child = spawn(program, args, { stdio: 'inherit' })
  // A press of Ctrl-C is for that program.
  const ignore = () => undefined
  process.on('SIGINT', ignore)
  try {
    const [code] = (await once(child, 'exit')) as [number | null]
    return code
  } finally {
    process.off('SIGINT', ignore)
  }
}

/** Opens an address in the desktop's program for it. Returns false if there is none, or no desktop. */
export async function openOnDesktop(url: string, env: Environment, platform: NodeJS.Platform): Promise<boolean> {
  if (platform === 'linux' && !env['DISPLAY'] && !env['WAYLAND_DISPLAY']) return false
  const [command, ...args] =
    platform === 'darwin'
      ? ['open', url]
      : platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', url]
        : ['xdg-open', url]
  const opener = spawn(command ?? '', args, { stdio: 'ignore', detached: true, env: { ...env } })
  opener.unref()
  try {
    await once(opener, 'spawn')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false
    throw error
  }
}
