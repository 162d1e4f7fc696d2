import { z } from 'zod'
import { withoutControls } from '../lang/hidden-characters.ts'

/** A name or title as people read it beside others: without control characters and characters that reverse text. */
export const shownName = () => z.string().overwrite(withoutControls).trim()
