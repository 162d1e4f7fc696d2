import { expect, test } from 'vitest'
import { missingPaths } from '../../../src-main/containment/denials.ts'
import { withoutKeys } from '../../../src-main/containment/home.ts'

const settings = `registry=https://npm.test/
//npm.test/:_authToken=hidden1
//npm.test/:always-auth=true
_password=hidden2
email=ada@copse.test
https-proxy=http://ada:hidden3@proxy.test:8080
cache=/var/cache/npm
npmScopes:
  copse:
    npmRegistryServer: "https://npm.test"
    npmAuthToken: "hidden4"
BUNDLE_GEMS__COPSE__TEST: "ada:hidden5"
channel_alias: https://conda.test/t/hidden6/channel
port = localhost:4873
[http "https://git.test/"]
	extraHeader = AUTHORIZATION: basic hidden7
[url "https://hidden8@git.test/"]
	insteadOf = git:
[registries.copse]
index = "sparse+https://cargo.test/"
token = "hidden9"
org.gradle.jvmargs=-Xmx2g
signing.password=hidden10
mavenToken=hidden11`

test('shows settings without what may be a key', () => {
  const shown = withoutKeys(settings)
  expect(shown).not.toContain('hidden')
  for (const kept of ['registry=https://npm.test/', 'cache=/var/cache/npm', 'https-proxy=http://proxy.test:8080'])
    expect(shown.split('\n')).toContain(kept)
  for (const kept of ['npmRegistryServer', 'localhost:4873', 'insteadOf', 'sparse+https://cargo.test/', '-Xmx2g'])
    expect(shown).toContain(kept)
})

test('shows XML whole, without its passwords', () => {
  const xml = `<settings><servers><server><id>a</id><username>hidden</username><password>hidden</password>
<configuration><httpHeaders><property><name>Private-Token</name><value>hidden</value></property></httpHeaders></configuration>
</server></servers><mirrors><mirror><url>https://ada:hidden@maven.test/</url></mirror></mirrors></settings>`
  const nuget =
    '<add key="Username" value="hidden" />\n<add key="ClearTextPassword" value="hidden" />\n<apikeys><add key="https://nuget.test" value="hidden" /></apikeys>'
  for (const text of [xml, nuget]) expect(withoutKeys(text)).not.toContain('hidden')
  expect(withoutKeys(xml)).toContain('<id>a</id><username></username><password></password>')
  expect(withoutKeys(xml)).toContain('<url>https://maven.test/</url>')
})

test.each([
  ['cat: /home/ada/.wren/key: No such file or directory', '/home/ada/.wren/key'],
  ["Error: ENOENT: no such file or directory, open '/home/ada/my key'", '/home/ada/my key'],
  ['sh: 1: /home/ada/bin/wren: Permission denied', '/home/ada/bin/wren'],
  ["[Errno 2] No such file or directory: '/home/ada/.wren'", '/home/ada/.wren'],
  ['/home/ada is fine', null],
])('reads %s', (line, path) => {
  expect(missingPaths(line)).toEqual(path === null ? [] : [path])
})
