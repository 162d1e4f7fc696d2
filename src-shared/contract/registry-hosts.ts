/** Where package managers and git get what a build needs. As of 2026-11. */
export const registryHosts: readonly string[] = [
  ...['registry.npmjs.org', 'registry.yarnpkg.com', 'jsr.io', 'npm.jsr.io', 'deno.land', 'nodejs.org'],
  ...['pypi.org', 'files.pythonhosted.org', 'conda.anaconda.org', 'repo.anaconda.com'],
  ...['index.crates.io', 'static.crates.io', 'crates.io', 'static.rust-lang.org', 'proxy.golang.org', 'sum.golang.org'],
  ...['repo.maven.apache.org', 'repo1.maven.org', 'plugins.gradle.org', 'services.gradle.org', 'api.nuget.org'],
  ...['rubygems.org', 'index.rubygems.org', 'repo.packagist.org', 'hex.pm', 'repo.hex.pm', 'pub.dev'],
  ...['github.com', 'codeload.github.com', 'objects.githubusercontent.com', 'raw.githubusercontent.com', 'ghcr.io'],
]
