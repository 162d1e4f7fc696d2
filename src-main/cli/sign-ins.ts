import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { CliError } from './cli-error.ts'
import { parseJson } from '../../src-shared/lang/parse-json.ts'

const SignIn = z.object({
  token: z.string(),
  /** Made by `svc login`, which `svc logout` revokes; null for a token that somebody brought. */
  token_id: z.string().nullable(),
  /** Whom it signs in, in words. */
  who: z.string(),
})
export type SignIn = z.infer<typeof SignIn>

const SignInFile = z.object({
  /** The address that was signed in to last: the default of every command. */
  current: z.string().nullable(),
  sign_ins: z.record(z.string(), SignIn),
})
type SignInFile = z.infer<typeof SignInFile>

/** The tokens of the command line, one an address, in a file that only its owner can read. */
export interface SignIns {
  readonly file: string
  current(): string | null
  find(url: string): SignIn | null
  /** Makes `url` the current address too. */
  put(url: string, signIn: SignIn): void
  remove(url: string): void
}

/** Opens the file in `dataDir`, which need not exist. Throws `CliError` for a file that cannot be read or written. */
export function openSignIns(dataDir: string): SignIns {
  const file = join(dataDir, 'secrets', 'svc-sign-ins.json')
  return {
    file,
    current: () => read(file).current,
    find: (url) => read(file).sign_ins[url] ?? null,
    put: (url, signIn) => {
      const { sign_ins } = read(file)
      write(file, { current: url, sign_ins: { ...sign_ins, [url]: signIn } })
    },
    remove: (url) => {
      const { current, sign_ins } = read(file)
      const { [url]: _, ...rest } = sign_ins
      write(file, { current: current === url ? null : current, sign_ins: rest })
    },
  }
}

function read(file: string): SignInFile {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return { current: null, sign_ins: {} }
    throw new CliError('sign_ins_unusable', `${file} cannot be read (${codeOf(error)}).`, { cause: error })
  }
  const parsed = SignInFile.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw new CliError('sign_ins_unusable', `${file} is damaged. Delete it and sign in again with \`svc login\`.`)
}

/** Appears whole or not at all, and is nobody else's to read from its first byte on. */
function write(file: string, content: SignInFile): void {
  const draft = `${file}.${randomUUID()}`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new CliError('sign_ins_unusable', `${file} cannot be written (${codeOf(error)}).`, { cause: error })
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}
