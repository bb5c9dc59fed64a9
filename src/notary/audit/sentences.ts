import type { EventPlace } from '../tree-store.ts'
import type { Difference } from './classify.ts'
import type { AuditProblem } from './findings.ts'

/** An event as operators read it, such as `license-lic_1@4`. */
export const placeName = ({ stream, revision }: Omit<EventPlace, 'id'>): string =>
  `${stream}@${String(revision)}`

const count = (value: number): string => value.toLocaleString('en-US')
const events = (value: number): string => (value === 1 ? 'an event is' : `${count(value)} events are`)
const at = (index: number): string => `at index ${count(index)}`

/** What is known of a difference when it is put into words. */
export type Named = Pick<AuditProblem, 'event' | 'before' | 'after' | 'was'> & {
  index: number
  /** The event of the last leaf. */
  last: EventPlace | null
  /** The size of the tree. */
  size: number
}

/** @returns a sentence that says what happened */
export function inWords(found: Difference, named: Named): string {
  const { index, event, was } = named
  const place = event ? `the event ${placeName(event)} ${at(index)}` : at(index)
  switch (found.kind) {
    case 'changed':
      if (found.log > 1)
        return `${count(found.log)} events, of which the first is ${place}, were changed after they were hashed`
      return was
        ? `${place} was changed after it was hashed: it was ${placeName(was)} then`
        : `${place} was changed after it was hashed`
    case 'missing':
      return `${events(found.tree)} missing ${between(named)}, ${at(index)}${lacking(named)}${renumbered(found)}`
    case 'added':
      return `${events(found.log)} in the log that ${found.log === 1 ? 'was' : 'were'} not hashed: ${place}, ${between(named)}${renumbered(found)}`
    case 'swapped':
      return `${place} and ${named.after ? placeName(named.after) : 'the next one'} have changed places`
    case 'moved':
      return movedInWords(found, named)
    case 'replaced':
      return `where ${count(found.tree)} events were hashed, the log has ${count(found.log)} others: the first is ${place}`
    case 'ends_early':
      return `the log ends before ${at(index).slice(3)}${named.before ? `, with ${placeName(named.before)}` : ''}: ${count(named.size - index)} events are missing${lastOf(named)}. It is an older copy, or its end was removed`
    case 'other_log':
      return `from ${place} on, the log is not the one that was hashed${lastOf(named)}. It is an older copy that was continued, or it was rewritten`
  }
}

const lacking = ({ was }: Named): string => (was ? `: the log lacks ${placeName(was)}` : '')

const renumbered = ({ renumbered: isRenumbered }: Difference): string =>
  isRenumbered ? '. Later events of its stream have other revisions than when they were hashed' : ''

function between({ before, after }: Named): string {
  if (before && after) return `between ${placeName(before)} and ${placeName(after)}`
  if (after) return `before ${placeName(after)}, the first event of the log`
  return before ? `after ${placeName(before)}, the last event of the log` : 'in an empty log'
}

/** A moved event is named by where it stands now, and by where it stood. */
function movedInWords({ movedBy }: Difference, { index, event, before, after }: Named): string {
  const name = event ? placeName(event) : 'an event'
  const around = before ? `after ${placeName(before)}` : after ? `before ${placeName(after)}` : 'in its place'
  return movedBy > 0
    ? `the event ${name}, which was hashed ${at(index)}, ${around}, stands ${count(movedBy)} places later`
    : `the event ${name} stands ${at(index)}, ${around}, and was hashed ${count(-movedBy)} places later`
}

const lastOf = ({ last }: Named): string =>
  last ? `; the last event that was hashed is ${placeName(last)}` : ''
