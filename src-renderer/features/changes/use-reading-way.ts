import { computed, ref, watch, type Ref } from 'vue'
import { useCommandHandlers } from '../../stores/commands.ts'
import { useDiffPreferences } from './diff-preferences.ts'
import type { DiffScope } from './diff-scope.ts'
import type { ToldChanges } from './use-chapters.ts'

interface Ports {
  /** Whether the whole branch is to be read as chapters. */
  readonly isByChapter: Readonly<Ref<boolean>>
  readonly scope: Ref<DiffScope>
  readonly told: Readonly<Ref<ToldChanges | null>>
  readonly files: Readonly<Ref<readonly unknown[]>>
}

/** Returns whether chapters or files are shown, and the key that switches between them. */
export function useReadingWay(taskId: () => string, { isByChapter, scope, told, files }: Ports) {
  const preferences = useDiffPreferences()
  /** Whether there are chapters; the answer before is by file. */
  const hasChapters = computed(
    () => isByChapter.value && files.value.length > 0 && (told.value?.chapters.source ?? 'files') !== 'files',
  )
  /** Whether the reader has begun with the files, and keeps the place when chapters come. */
  const staysInFiles = ref(false)
  watch([taskId, isByChapter], () => (staysInFiles.value = false))
  /** The way that is chosen; another comparison than with the whole branch has files alone. */
  const way = computed<'chapters' | 'files'>({
    get: () => (isByChapter.value ? 'chapters' : 'files'),
    set: (next) => {
      preferences.reading = next
      staysInFiles.value = false
      if (next === 'chapters') scope.value = 'branch'
    },
  })
  useCommandHandlers({
    reading: { run: () => (way.value = way.value === 'chapters' ? 'files' : 'chapters') },
  })
  return {
    way,
    hasChapters,
    showsChapters: computed(() => hasChapters.value && !staysInFiles.value),
    staysInFiles,
    /** Notes that the reader has begun with the files. */
    begin: (): void => {
      if (isByChapter.value && !hasChapters.value) staysInFiles.value = true
    },
  }
}
