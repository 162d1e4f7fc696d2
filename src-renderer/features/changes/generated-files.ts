const names = new Set([
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'composer.lock',
  'Cargo.lock',
  'Gemfile.lock',
  'Pipfile.lock',
  'poetry.lock',
  'uv.lock',
  'Package.resolved',
  'Podfile.lock',
  'flake.lock',
  'go.sum',
  'gradle.lockfile',
  'packages.lock.json',
  'pubspec.lock',
  'mix.lock',
])
const endings = /(\.min\.(js|css)|\.(js|css)\.map|\.pb\.(go|cc|h)|_pb2(_grpc)?\.pyi?|\.g\.dart|\.designer\.cs|\.snap)$/i
const folders = /(^|\/)(dist|node_modules|vendor|__generated__|generated)\//

/** Returns whether the name or folder of a file marks it as generated. */
export function isGenerated(path: string): boolean {
  return names.has(path.slice(path.lastIndexOf('/') + 1)) || endings.test(path) || folders.test(path)
}
