import { useSettingDraft } from './use-setting-draft.ts'

/** Returns commands as editable text, one per line. `save` resolves to whether it succeeded. */
export function useCommandLines(
  key: () => string,
  kept: () => readonly string[],
  save: (commands: string[]) => Promise<boolean>,
) {
  const { text, changed, settle, overtaken, discard } = useSettingDraft(key, () => kept().join('\n'))
  async function submit(): Promise<void> {
    if (!changed.value) return
    const sent = text.value
    if (await save(sent.split('\n').flatMap((line) => line.trim() || []))) settle(sent)
  }
  return { text, changed, overtaken, discard, submit }
}
