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
  ...['NIX_PATH', 'NIX_PROFILES', 'NIX_SSL_CERT_FILE', 'HOMEBREW_PREFIX', 'SDKMAN_DIR', 'ASDF_DIR', 'MISE_DATA_DIR'],
])
/** `GIT_` except the programs that git asks for passwords. */
const patterns = [/^LC_/, /^SVC_/, /^GIT_(?!ASKPASS$|SSH$|SSH_COMMAND$)/]

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
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => isKept(name, value)))
}
