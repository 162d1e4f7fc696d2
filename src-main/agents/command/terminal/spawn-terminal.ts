import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { PassThrough, type Readable } from 'node:stream'
import type * as NodePty from 'node-pty'
import {
  superviseTree,
  ProcessStartError,
  type ProcessExit,
  type ProcessTree,
} from '../../../platform/process/process.ts'
import { endedInBox, type Box } from '../../../platform/process/box.ts'
import { treeVariable } from '../../../platform/process/tree-variable.ts'
import { sendSignal } from '../../../platform/process/process-sweep.ts'

export interface SpawnTerminalOptions {
  readonly cwd: string
  /** The complete environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** The box that contains the process. */
  readonly box?: Box | undefined
}

/** A process in its own terminal, with all its child processes. */
export interface TerminalTree extends Omit<ProcessTree, 'stdin' | 'stdout' | 'stderr'> {
  /** The complete output. Read it to its end, which always comes. */
  readonly output: Readable
  /** Writes keys as a keyboard sends them. */
  write(keys: string): void
  resize(cols: number, rows: number): void
}

/** The size until a viewer reports theirs. */
const firstSize = { cols: 120, rows: 32 }
const colours = { TERM: 'xterm-256color', COLORTERM: 'truecolor' }

/**
 * Starts a program in a terminal, as the leader of its own session. When it has ended, the terminal is closed even if
 * other processes hold it. Throws `ProcessStartError`.
 */
export async function spawnTerminal(
  file: string,
  args: readonly string[],
  { cwd, env, box }: SpawnTerminalOptions,
): Promise<TerminalTree> {
  if (!existsSync(cwd)) throw new ProcessStartError('no_directory', `The directory ${cwd} is not there.`)
  const { spawn } = await loadPty()
  const processMarker = randomUUID()
  const since = performance.now()
  const environment = { ...env, ...colours, [treeVariable]: processMarker }
  const inside = await box?.contain({ file, args, env: environment, terminal: true })
  // Without an encoding the output stays bytes.
  const pty = spawn(inside?.file ?? file, [...(inside?.args ?? args)], {
    ...firstSize,
    name: colours.TERM,
    cwd,
    env: inside?.env ?? environment,
    encoding: null,
  })
  const output = pipeOf(pty)
  let isOpen = true
  const exited = new Promise<ProcessExit>((resolve) => {
    // Called once the terminal is closed: no more output follows.
    pty.onExit(({ exitCode, signal = 0 }) => {
      isOpen = false
      output.end()
      resolve({ exit_code: signal > 0 ? 128 + signal : exitCode, signal: null })
    })
  })
  const tree = await superviseTree({ pid: pty.pid, processMarker, since, env, exited })
  return {
    ...tree,
    ended: inside ? endedInBox(tree.ended, inside) : tree.ended,
    output,
    write: (keys) => {
      if (isOpen) pty.write(keys)
    },
    resize: (cols, rows) => {
      if (isOpen) pty.resize(cols, rows)
    },
    stop: async (options) => {
      // A shell that waits for keys ignores SIGTERM but exits on SIGHUP.
      if (isOpen && process.platform !== 'win32') sendSignal(-pty.pid, 'SIGHUP')
      await tree.stop(options)
    },
  }
}

/** Large enough that a slow reader can't delay the closing of the terminal for long. */
const roomBytes = 1024 * 1024

function pipeOf(pty: NodePty.IPty): PassThrough {
  const output = new PassThrough({ highWaterMark: roomBytes })
  pty.onData((data: string | Buffer) => {
    if (!output.write(data)) pty.pause()
  })
  output.on('drain', () => pty.resume())
  return output
}

/** Loads node-pty's native part only when a terminal is needed. */
async function loadPty(): Promise<typeof NodePty> {
  try {
    return await import('node-pty')
  } catch (error) {
    const message = 'This installation has no terminals for this system. Turn `terminal` off for the agent.'
    throw new ProcessStartError('failed', message, { cause: error })
  }
}
