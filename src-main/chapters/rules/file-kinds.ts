const lockFile =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|go\.sum|poetry\.lock|Pipfile\.lock|uv\.lock|Gemfile\.lock|composer\.lock|packages\.lock\.json|gradle\.lockfile|Package\.resolved|Podfile\.lock|pubspec\.lock|mix\.lock|flake\.lock|deno\.lock)$/

const manifest =
  /(?:^|\/)(?:package\.json|Cargo\.toml|go\.mod|requirements[\w.-]*\.txt|pyproject\.toml|Pipfile|Gemfile|composer\.json|pom\.xml|build\.gradle(?:\.kts)?|Package\.swift|Podfile|pubspec\.yaml|mix\.exs|[^/]+\.csproj|Directory\.Packages\.props)$/

const testFile =
  /(?:^|\/)(?:tests?|__tests__|spec|specs|testing|e2e|testdata|fixtures|__snapshots__)\/|(?:[._-](?:test|tests|spec|e2e)|_test)\.[A-Za-z0-9]+$|(?:^|\/)(?:test_[^/]+\.py|conftest\.py)$|(?:Test|Tests|IT|Spec)\.(?:java|kt|cs|scala|swift)$/

const source =
  /\.(?:[cm]?[jt]sx?|vue|svelte|astro|py|rb|go|rs|java|kts?|scala|swift|[ch](?:pp|xx|c|h)?|hh|mm?|cs|fs|php|pl|pm|r|jl|lua|ex|exs|erl|hs|clj|dart|sh|bash|zsh|fish|ps1|psm1|sql|html?|css|s[ac]ss|less|proto|graphql|zig|nim)$/i

/** Returns whether a tool writes the file: a closed list of names, which no branch can extend. */
export const isLockFile = (path: string): boolean => lockFile.test(path)
/** Returns whether the file names the packages that a project needs. */
export const isManifest = (path: string): boolean => manifest.test(path)
export const isTestFile = (path: string): boolean => testFile.test(path)
export const isSource = (path: string): boolean => source.test(path)
