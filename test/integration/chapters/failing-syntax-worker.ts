import { parentPort } from 'node:worker_threads'
import { readSyntax } from '../../../src-main/chapters/syntax/read-syntax.ts'
import type { SyntaxRequest } from '../../../src-main/chapters/rules/syntax.ts'

/** The worker of the program, but for files whose names say how it fails. */
parentPort?.on('message', (files: readonly SyntaxRequest[]) => {
  if (files.some(({ path }) => path.startsWith('hang'))) for (;;);
  if (files.some(({ path }) => path.startsWith('crash'))) throw new Error('crashed')
  void Promise.all(files.map(readSyntax)).then((answers) => parentPort?.postMessage(answers))
})
