import { parentPort } from 'node:worker_threads'
import { readSyntax } from './chapters/syntax/read-syntax.ts'
import type { SyntaxAnswers } from './chapters/syntax/worker-thread.ts'
import type { SyntaxRequest } from './chapters/rules/syntax.ts'

// An error ends the thread, because a parser that failed may have damaged its memory; its host starts another one.
parentPort?.on('message', (files: readonly SyntaxRequest[]) => {
  void readAll(files).then((answers) => parentPort?.postMessage(answers))
})

async function readAll(files: readonly SyntaxRequest[]): Promise<SyntaxAnswers> {
  const answers: SyntaxAnswers[number][] = []
  for (const file of files) answers.push(await readSyntax(file))
  return answers
}
