import { Refusal } from '../refusal.ts'
import type { KeyType } from './key-type.ts'

/**
 * A key type as it is recorded: a setting that is not used is left out.
 * @throws Refusal `term_without_duration` for a term that starts later and has no length
 */
export function checkedKeyType({ startsAt, graceSeconds = 0, ...keyType }: KeyType): KeyType {
  const startsLater = startsAt === 'first_activation'
  if (startsLater && keyType.duration === null) throw new Refusal('term_without_duration')
  return { ...keyType, ...(startsLater && { startsAt }), ...(graceSeconds > 0 && { graceSeconds }) }
}
