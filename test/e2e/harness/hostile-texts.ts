/** Where every beacon of a hostile text leads; nothing may ever be asked of it. */
export const beacon = 'https://beacon.invalid'

/** Script that leaves a mark in the page if it ever runs. */
const mark = 'window.copseCanary=1'
export const script = `<script>${mark}</script>`
export const handler = `<img src=x onerror="${mark}">`

/** Characters that reverse what follows, hide themselves, or are codes of a terminal. */
export const deceiving = '\u202eesrever\u2066\u0007\u001b[2K\u001b]8;;javascript:alert(1)\u0007link'

/** A name or title that tries to be more than one. */
export const hostileName = (what: string): string => `${what} ${deceiving} ${handler}`

export const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${mark}"><script>${mark}</script><image href="${beacon}/svg"/></svg>`

/** Content that would run, fetch, submit, cover or lead away if the page took it for its own. */
export const hostileMarkdown = [
  script,
  handler,
  `<img src="${beacon}/img.png" alt="picture">`,
  `<svg onload="${mark}"><foreignObject><iframe srcdoc="<script>parent.${mark}</script>"></iframe></foreignObject></svg>`,
  `<iframe src="javascript:parent.${mark}" srcdoc="<script>parent.${mark}</script>"></iframe>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${mark}&gt;">`,
  `<base href="${beacon}/"><meta http-equiv="refresh" content="0;url=${beacon}/refresh">`,
  `<form action="${beacon}/form" id="app" name="body"><button name="copse" autofocus>Allow</button></form>`,
  `<style>@import url("${beacon}/import.css"); body { background: url("${beacon}/background") }</style>`,
  `<div style="position:fixed;inset:0;z-index:99999;background:url(${beacon}/overlay)">Allow</div>`,
  `<link rel="stylesheet" href="${beacon}/link.css"><object data="${beacon}/object"></object><embed src="${beacon}/embed">`,
  `<video src="${beacon}/video" autoplay></video><a href="javascript:${mark}" autofocus onfocus="${mark}">press</a>`,
  `![remote](${beacon}/remote.png) ![data](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)`,
  `[1](javascript:${mark}) [2](JaVaScRiPt&colon;${mark}) [3](vbscript:x) [4](data:text/html,${script}) [5](\u0001javascript:${mark})`,
  '[6](file:///etc/passwd) [7](vscode://file/etc/passwd) [8](copse://app/) [9](blob:null/x) <ssh://beacon.invalid>',
  `[https://github.com/login](${beacon}/login "https://github.com/login")`,
  `[a]: javascript:${mark}\n\n[a] [b][a]`,
  `{{constructor.constructor('${mark}')()}} \${${mark}}`,
  deceiving,
].join('\n\n')

/** Markdown whose reading must not keep the page from answering. */
export const heavyMarkdown = [
  `${'> '.repeat(3_000)}deep`,
  '['.repeat(20_000),
  '- x\n'.repeat(2_000),
  'z'.repeat(100_000),
  '**a *b '.repeat(5_000),
]
