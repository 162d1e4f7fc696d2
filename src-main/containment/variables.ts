/** Variables of Copse's own environment that programs need and that can't be a key. */
const names = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'PWD', 'TZ', 'TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR', 'CI'],
  ...['LANG', 'LANGUAGE', 'HOSTNAME', 'EDITOR', 'VISUAL', 'PAGER', 'DEBIAN_FRONTEND', '__CF_USER_TEXT_ENCODING'],
  // Where programs keep their data. Not XDG_RUNTIME_DIR, whose sockets are hidden.
  ...['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME', 'XDG_CONFIG_DIRS', 'XDG_DATA_DIRS'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'all_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'CURL_CA_BUNDLE', 'REQUESTS_CA_BUNDLE', 'NODE_EXTRA_CA_CERTS', 'GIT_SSL_CAINFO'],
  ...['NODE_ENV', 'NODE_PATH', 'NVM_DIR', 'NVM_BIN', 'VOLTA_HOME', 'FNM_DIR', 'PNPM_HOME', 'BUN_INSTALL', 'DENO_DIR'],
  ...['COREPACK_HOME', 'PLAYWRIGHT_BROWSERS_PATH', 'PUPPETEER_EXECUTABLE_PATH', 'CHROME_PATH', 'ELECTRON_CACHE'],
  ...['PYTHONPATH', 'PYTHONHOME', 'VIRTUAL_ENV', 'CONDA_PREFIX', 'PYENV_ROOT', 'UV_CACHE_DIR', 'PIP_CACHE_DIR'],
  ...['GOPATH', 'GOROOT', 'GOCACHE', 'GOMODCACHE', 'GOFLAGS', 'GOPROXY', 'GOPRIVATE', 'GOTOOLCHAIN'],
  ...['CARGO_HOME', 'RUSTUP_HOME', 'RUSTUP_TOOLCHAIN', 'RUSTFLAGS', 'CARGO_TARGET_DIR'],
  ...['JAVA_HOME', 'GRADLE_USER_HOME', 'GRADLE_OPTS', 'MAVEN_OPTS', 'M2_HOME', 'KOTLIN_HOME', 'DOTNET_ROOT'],
  ...['ANDROID_HOME', 'ANDROID_SDK_ROOT', 'GEM_HOME', 'GEM_PATH', 'BUNDLE_PATH', 'RBENV_ROOT', 'COMPOSER_HOME'],
  ...['CC', 'CXX', 'CFLAGS', 'CXXFLAGS', 'CPPFLAGS', 'LDFLAGS', 'MAKEFLAGS', 'PKG_CONFIG_PATH', 'LD_LIBRARY_PATH'],
  ...['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL', 'GIT_TERMINAL_PROMPT'],
  ...['GIT_CONFIG_NOSYSTEM', 'GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_EDITOR', 'GIT_PAGER', 'GIT_EXEC_PATH'],
  ...['GIT_TEMPLATE_DIR', 'GIT_LFS_SKIP_SMUDGE', 'GIT_OPTIONAL_LOCKS', 'GIT_CEILING_DIRECTORIES'],
  ...['NIX_PATH', 'NIX_PROFILES', 'NIX_SSL_CERT_FILE', 'HOMEBREW_PREFIX', 'SDKMAN_DIR', 'ASDF_DIR', 'MISE_DATA_DIR'],
])
const patterns = [/^LC_[A-Z]+$/]
const proxies = /^(?:HTTPS?|ALL|FTP)_PROXY$/i

/**
 * Returns the environment of a contained run: the given variables, and inherited ones that are surely no key. A
 * user's shell often holds tokens.
 */
export function containedVariables(
  env: Readonly<Record<string, string>>,
  given: readonly string[],
  inherited: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  const isKept = (name: string, value: string): boolean =>
    inherited[name] !== value ||
    given.includes(name) ||
    names.has(name) ||
    patterns.some((pattern) => pattern.test(name))
  const isPersons = (name: string): boolean => proxies.test(name) && !given.includes(name)
  const kept = Object.entries(env).filter(([name, value]) => isKept(name, value))
  return Object.fromEntries(kept.map(([name, value]) => [name, isPersons(name) ? withoutUser(value) : value]))
}

/** A proxy's user and password are the person's. */
const withoutUser = (url: string): string => url.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/@]*@/i, '$1')
