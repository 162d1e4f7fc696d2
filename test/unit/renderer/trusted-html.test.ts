import { expect, test } from 'vitest'
import { checkHtml, checkScriptUrl } from '../../../src-renderer/trusted-html.ts'

test('lets lines of code through as HTML, and nothing that runs, fetches or leads away', () => {
  const lines = '<span style="color:red" data-line="1">&lt;script> a onload=1 href=x &lt;img src=y></span>'
  expect(checkHtml(lines)).toBe(lines)
  for (const html of [
    '<script>1</script>',
    '<IMG src=x>',
    '<svg onload=1>',
    '<div><iframe srcdoc="x"></iframe></div>',
    '<use href="#x">',
    '<p\nonclick = "1">',
    '<a>',
  ]) {
    expect(() => checkHtml(html), html).toThrow(TypeError)
  }
})

test('lets only the app’s own scripts be loaded', () => {
  const place = { href: 'copse://app/index.html', origin: 'copse://app' }
  expect(checkScriptUrl('./assets/worker.js', place)).toBe('copse://app/assets/worker.js')
  for (const address of [
    'https://copse.test/x.js',
    'copse://app.evil/x.js',
    'blob:copse://app/x',
    'data:text/javascript,1',
  ]) {
    expect(() => checkScriptUrl(address, place), address).toThrow(TypeError)
  }
})
