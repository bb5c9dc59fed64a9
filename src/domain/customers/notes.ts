import { z } from 'zod'
import { isPlain, notPlain } from '../values.ts'

/** As many notes a customer has at most: their ids are part of the customer. */
export const maxNotes = 200

/** Longer than anything that has to be said at once. */
export const maxNoteText = 2000

/** What a person writes about a customer, in one or more lines. */
export const NoteText = z
  .string()
  .trim()
  .min(1)
  .max(maxNoteText)
  .refine((text) => isPlain(text.replaceAll(/[\n\r\t]/g, ' ')), notPlain)
