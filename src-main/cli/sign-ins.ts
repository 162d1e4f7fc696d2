import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { CliError } from './cli-error.ts'
import { parseJson } from '../../src-shared/lang/parse-json.ts'

const SignIn = z.object({
  token: z.string(),
  /** A token that `svc login` created and `svc logout` revokes; null for a token that the user brought. */
  token_id: z.string().nullable(),
  /** The account, as shown to people. */
  who: z.string(),
})
export type SignIn = z.infer<typeof SignIn>

const SignInFile = z.object({
  /** The address of the last sign-in: the default of every command. */
  current: z.string().nullable(),
  sign_ins: z.record(z.string(), SignIn),
})
type SignInFile = z.infer<typeof SignInFile>

/** The command line's tokens, one per address, in a file that only its owner can read. */
export interface SignIns {
  readonly file: string
  current(): string | null
  find(url: string): SignIn | null
  /** Saves a sign-in and makes `url` the current address. */
  put(url: string, signIn: SignIn): void
  remove(url: string): void
}

/** Opens the file in `dataDir`, which need not exist. Throws `CliError` if the file can't be read or written. */
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

/** Writes the file atomically and readable by its owner only, from the first byte on. */
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
