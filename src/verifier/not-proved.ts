import { NoteError } from '../transparency/note/note.ts'
import { ProofError } from '../transparency/tree/proof.ts'

/** In what way something differs from what was signed. */
export type Finding =
  /** It is no such file, or it is damaged. */
  | 'malformed'
  /** None of the given keys signed it. */
  | 'foreign_key'
  /** A given key should have signed it, and its signature is wrong. */
  | 'wrong_signature'
  /** Fewer witnesses cosigned it than required. */
  | 'too_few_witnesses'
  /** An event, or something computed from it, has other content. */
  | 'differs'
  | 'missing'
  | 'added'
  /** An event stands in another place. */
  | 'order'
  /** It is of another tenant. */
  | 'foreign_tenant'
  /** It is newer than the checkpoint. */
  | 'not_covered'
  /** The log is shorter than the one that was kept. */
  | 'rollback'
  /** The log does not begin with the one that was kept. */
  | 'fork'

/** Which event, as far as it is known. */
export type EventName = { index?: number; stream?: string; revision?: number; type?: string }

/** What was checked does not hold. The message says what is wrong, and what to do about it. */
export class NotProved extends Error {
  readonly finding: Finding
  readonly event: EventName | undefined

  constructor(finding: Finding, message: string, event?: EventName) {
    super(printable(message))
    this.finding = finding
    this.event = event
  }
}

/** @returns text in which no name of what is checked begins a line of its own, or turns the text around */
export const printable = (text: string): string =>
  text.replace(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )

/**
 * Runs a step whose input may be malformed.
 * @param event whose part is read, if it is known
 * @throws NotProved instead of an error of the formats
 */
export function readingOf<T>(what: string, read: () => T, event?: EventName): T {
  try {
    return read()
  } catch (error) {
    // A text that is nested too deep ends with a RangeError.
    if (
      error instanceof NoteError ||
      error instanceof ProofError ||
      error instanceof SyntaxError ||
      error instanceof RangeError
    )
      throw new NotProved('malformed', `${what} cannot be read: ${error.message}. Get it again.`, event)
    throw error
  }
}

/** @returns an event in words, such as `license-lic_1, revision 3 (DeviceActivated)` */
export function eventWords({ index, stream, revision, type }: EventName): string {
  const at = index === undefined ? '' : `event ${String(index)}`
  if (stream === undefined || revision === undefined) return at === '' ? 'an event' : at
  const own = `${stream}, revision ${String(revision)}${type === undefined ? '' : ` (${type})`}`
  return at === '' ? own : `${at}: ${own}`
}
