import { existsSync, readFileSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join, relative } from 'node:path'
import type { OwnersWords } from '../ports/containment.ts'
import { createRedactor } from '../platform/text/redact.ts'
import { isWithin } from '../platform/path-names.ts'

/** Folders below home in which programs keep keys. */
export const keys = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.netrc',
  '.git-credentials',
  '.password-store',
  '.config/gcloud',
  '.config/gh',
  '.config/git/credentials',
  '.config/op',
  '.gem/credentials',
  '.julia/servers',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  '.local/share/uv/credentials',
  '.pub-cache/credentials.json',
  'Library/Keychains',
]

/** What programs and their tools are made of below home. It holds no keys but those above, and nothing personal. */
export const toolchains = [
  // JavaScript
  ...[
    '.nvm',
    '.volta',
    '.fnm',
    '.local/share/fnm',
    '.nodenv',
    '.n',
    'n',
    '.bun',
    '.deno',
    '.npm-global',
    '.npm-packages',
  ],
  ...['.node_modules', 'node_modules', '.local/share/pnpm', 'Library/pnpm', '.yarn', '.config/yarn/global'],
  // Python
  ...[
    '.pyenv',
    '.rye',
    '.local/share/uv',
    '.local/pipx',
    '.local/share/pipx',
    '.local/share/virtualenvs',
    '.virtualenvs',
  ],
  ...['.conda', 'miniconda3', 'anaconda3', 'miniforge3', 'mambaforge', 'micromamba', '.pixi', '.local/lib'],
  // Rust, Go, C and C++
  ...['.rustup', '.cargo/bin', '.cargo/env', 'go/bin', 'go/pkg', 'sdk', '.gvm', '.vcpkg', 'emsdk', '.conan2'],
  // JVM, .NET, mobile
  ...['.sdkman', '.jenv', '.jbang', '.local/share/coursier', '.ivy2', '.sbt', '.dotnet', '.konan', 'Android/Sdk'],
  ...['Library/Android/sdk', 'flutter', '.pub-cache', '.swiftly', '.local/share/swiftly', 'Library/Developer'],
  // Others
  ...[
    '.rbenv',
    '.rvm',
    '.gem',
    '.local/share/gem',
    '.composer/vendor',
    '.config/composer/vendor',
    '.ghcup',
    '.cabal/bin',
  ],
  ...['.stack/programs', '.opam', '.elan', '.juliaup', '.julia', '.luarocks', '.mix', '.kerl', '.platformio/packages'],
  ...['.foundry', '.wasmtime', '.wasmer', '.tfenv'],
  // Managers of versions
  ...[
    '.asdf',
    '.local/share/mise',
    '.config/mise',
    '.proto',
    '.nix-profile',
    '.local/state/nix',
    '.linuxbrew',
    '.tool-versions',
  ],
  ...['.local/bin', 'bin', '.agents', '.fonts', '.local/share/fonts', '.config/fontconfig', '.terminfo'],
]

/** Git's own files, without its passwords. */
export const gits = [
  '.config/git/ignore',
  '.config/git/attributes',
  '.gitignore',
  '.gitignore_global',
  '.gitattributes',
  '.git-templates',
  '.config/pre-commit',
]

/** Settings of package managers, which a run gets without the lines that hold keys. */
export const filtered = [
  ...['.gitconfig', '.config/git/config', '.npmrc', '.config/npm/npmrc', '.yarnrc', '.yarnrc.yml', '.bunfig.toml'],
  ...['.config/pnpm/rc', '.config/pip/pip.conf', '.pip/pip.conf', '.config/uv/uv.toml', '.config/pypoetry/config.toml'],
  ...['.condarc', '.cargo/config.toml', '.cargo/config', '.m2/settings.xml', '.gradle/gradle.properties', '.gemrc'],
  ...['.bundle/config', '.nuget/NuGet/NuGet.Config', '.config/NuGet/NuGet.Config'],
]

/** Variables that name a toolchain. */
const variables = new Set([
  ...['NODE_PATH', 'NVM_DIR', 'VOLTA_HOME', 'FNM_DIR', 'PNPM_HOME', 'BUN_INSTALL', 'DENO_DIR', 'COREPACK_HOME'],
  ...['PLAYWRIGHT_BROWSERS_PATH', 'PUPPETEER_EXECUTABLE_PATH', 'CHROME_PATH', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'],
  ...[
    'SSL_CERT_DIR',
    'CURL_CA_BUNDLE',
    'REQUESTS_CA_BUNDLE',
    'GIT_SSL_CAINFO',
    'PYTHONPATH',
    'PYTHONHOME',
    'VIRTUAL_ENV',
  ],
  ...['CONDA_PREFIX', 'PYENV_ROOT', 'GOPATH', 'GOROOT', 'RUSTUP_HOME', 'JAVA_HOME', 'M2_HOME', 'KOTLIN_HOME'],
  ...['DOTNET_ROOT', 'ANDROID_HOME', 'ANDROID_SDK_ROOT', 'GEM_HOME', 'GEM_PATH', 'RBENV_ROOT', 'LD_LIBRARY_PATH'],
  ...['PKG_CONFIG_PATH', 'HOMEBREW_PREFIX', 'SDKMAN_DIR', 'ASDF_DIR', 'ASDF_DATA_DIR', 'MISE_DATA_DIR'],
])

/** Folders that hold those of many programs, so that one of them is never shown for the sake of another. */
const shared = new Set(
  [
    '',
    '.config',
    '.local',
    '.local/share',
    '.local/state',
    '.cache',
    'Documents',
    'Desktop',
    'Downloads',
    'Library',
  ].concat([
    'Library/Application Support',
    '.cargo',
    '.m2',
    '.gradle',
    '.composer',
    '.config/composer',
    '.config/yarn',
    'go',
  ]),
)

/** Whether a home folder can be hidden: not where it is the file system, or holds a part of the system. */
export const isHideable = (home: string): boolean =>
  existsSync(home) && !['/usr', '/etc', '/var/lib', '/opt'].some((folder) => isWithin(folder, home))

/**
 * Returns the paths below a home folder that a run may read although the home is hidden: toolchains, git's settings,
 * what is on the PATH, and what its owner's command and variables name; not what the run or its task names. Links keep
 * their names.
 */
export function readableIn(home: string, { command = '', env = {} }: OwnersWords = {}): readonly string[] {
  const own = Object.entries(env).flatMap(([, value]) => value.split(delimiter))
  const inherited = [...variables].flatMap((name) => process.env[name]?.split(delimiter) ?? [])
  const path = env['PATH'] ?? process.env['PATH'] ?? ''
  const paths = [
    ...[...toolchains, ...gits].map((name) => join(home, name)),
    ...path.split(delimiter).flatMap((folder) => installedIn(folder, home)),
    ...pathsIn(command, home).flatMap((program) => programAt(program, home)),
    ...[...own, ...inherited].filter(isAbsolute),
    ...namedByGit(home),
  ]
  const isShown = (one: string): boolean =>
    isWithin(one, home) && !isShared(one, home) && !isKey(one, home) && existsSync(one)
  const shown = [...new Set(paths)].filter(isShown)
  return shown.filter((one) => !shown.some((other) => other !== one && isWithin(one, other)))
}

const isShared = (path: string, home: string): boolean => shared.has(relative(home, path))
const isKey = (path: string, home: string): boolean => keys.some((key) => isWithin(path, join(home, key)))

/** Returns a folder of programs, what is installed beside it, and the packages that its links lead to. */
function installedIn(folder: string, home: string): readonly string[] {
  if (!isAbsolute(folder) || !isWithin(folder, home) || !existsSync(folder)) return []
  const prefix = dirname(folder)
  const parts = ['lib', 'lib64', 'libexec', 'share', 'include', 'node_modules', 'package.json', 'pyvenv.cfg']
  const beside = isShared(prefix, home) ? [] : parts.map((part) => join(prefix, part))
  const links = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink())
  return [folder, ...beside, ...links.flatMap(({ name }) => programAt(join(folder, name), home))]
}

/** Returns a program and the package that it belongs to. */
function programAt(path: string, home: string): readonly string[] {
  const real = realOf(path)
  if (real === null) return []
  const places = [path, real]
  for (const place of new Set([path, real]))
    for (let folder = dirname(place); isWithin(folder, home) && !isShared(folder, home); folder = dirname(folder)) {
      if (place === path ? folder !== dirname(place) : !isPackage(folder)) continue
      places.push(basename(dirname(folder)) === 'node_modules' ? dirname(folder) : folder)
      break
    }
  return places
}

const isPackage = (folder: string): boolean =>
  ['package.json', 'pyvenv.cfg'].some((name) => existsSync(join(folder, name)))

function realOf(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

/** Returns the files below home that a command line names. */
function pathsIn(text: string, home: string): readonly string[] {
  const found = [...text.matchAll(/(?<![\w.~/-])(?:~|\/)[^\s'"=:;&|()<>]+/g)].map(([path]) =>
    path.replace(/^~/, () => home),
  )
  return found.filter((path) => isWithin(path, home) && existsSync(path) && statSync(path).isFile())
}

/** Returns the paths that the user's settings of git name: other settings, ignored files, hooks. */
function namedByGit(home: string): readonly string[] {
  return ['.gitconfig', '.config/git/config'].flatMap((name) => {
    const text = readIfThere(join(home, name)) ?? ''
    return [...text.matchAll(/=\s*"?((?:~|\/)[^"\n]+)/g)].map(([, path = '']) => path.trim().replace(/^~/, () => home))
  })
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** Settings below home as a run gets them. */
export interface FilteredFile {
  readonly path: string
  readonly text: string
}

export function filteredIn(home: string): readonly FilteredFile[] {
  return filtered.flatMap((name) => {
    const path = join(home, name)
    const text = readIfThere(path)
    return text === null ? [] : [{ path, text: withoutKeys(text) }]
  })
}

const redact = createRedactor([])
const secretName = /auth|token|passw|secret|credential|private_?key|api_?key|\bkey\b|askpass|helper/i

/**
 * Returns settings without what may be a key: values of names that say so, users in addresses, and elements of XML.
 */
export function withoutKeys(text: string): string {
  const settings = text
    .replaceAll(/<(httpHeaders|apikeys)>.*?<\/\1>/gis, '')
    .replaceAll(/<(password|passphrase|privateKey|username)>[^<]*<\/\1>/gi, '<$1></$1>')
    .replaceAll(/(<add key="(?:ClearText)?(?:Password|Username)" value=")[^"]*/gi, '$1')
    // The user or the password of an address, and a token of Conda in its path.
    .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@'"]+@/gi, '$1')
    .replaceAll(/(:\/\/[^\s/]+\/t\/)[^\s/]+/g, '$1')
  const lines = settings.split('\n').filter((line) => line.trimStart().startsWith('<') || !isSecretLine(line))
  return redact(lines.join('\n'))
}

function isSecretLine(line: string): boolean {
  const [, name = '', value = ''] = /^\s*([^=:\s][^=\s]*?)\s*[=:]\s*(.*)$/.exec(line) ?? []
  // npm names a registry before the setting: `//registry.example.com/:_authToken=…`.
  const [, ofRegistry] = /^\s*\/\/[^=]*:(\w+)\s*=/.exec(line) ?? []
  const isPair = /^["']?[^\s:/"']+:(?!\d+["']?$)[^\s/"']+["']?$/.test(value)
  return secretName.test(ofRegistry ?? name) || /\b(?:basic|bearer)\s+\S/i.test(value) || isPair
}
