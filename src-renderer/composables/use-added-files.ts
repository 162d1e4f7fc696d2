import { onBeforeUnmount, ref } from 'vue'
import { errorSentence } from '../formatters/error-sentence.ts'
import { replaceSelection } from '../model/markdown-edit.ts'
import type { EditorField } from './editor-field.ts'

/** Uploads files that are added to a text. A placeholder marks each position until the upload ends. */
export function useAddedFiles(
  { current, take, replace }: EditorField,
  upload: ((file: File) => Promise<string>) | undefined,
) {
  const uploading = ref<readonly string[]>([])
  const failure = ref<string | null>(null)
  let marks = 0

  async function settle(file: File, mark: string, before: string): Promise<void> {
    let markdown = ''
    try {
      markdown = (await upload?.(file)) ?? ''
    } catch (error) {
      failure.value = `${file.name} was not added. ${errorSentence(error)}`
    }
    uploading.value = uploading.value.filter((one) => one !== mark)
    if (markdown === '') replace(before + mark, '')
    else replace(mark, markdown)
  }
  // The draft must not keep placeholders of uploads that no component follows.
  onBeforeUnmount(() => {
    for (const mark of uploading.value) replace(mark, '')
  })
  return {
    uploading,
    failure,
    async add(files: readonly File[]): Promise<void> {
      failure.value = null
      const edit = current()
      const gap = edit.start > 0 && !/\s$/.test(edit.text.slice(0, edit.start)) ? '\n' : ''
      const waiting = files.map((file, index) => {
        marks += 1
        const mark = `[Uploading ${file.name.replace(/[[\]\n]/g, '')}…](#${marks})`
        return { file, mark, before: index === 0 ? gap : '\n' }
      })
      uploading.value = [...uploading.value, ...waiting.map(({ mark }) => mark)]
      await take(replaceSelection(edit, waiting.map(({ before, mark }) => before + mark).join('')))
      await Promise.all(waiting.map(({ file, mark, before }) => settle(file, mark, before)))
    },
  }
}
