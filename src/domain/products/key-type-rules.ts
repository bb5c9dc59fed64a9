import { Refusal } from '../refusal.ts'
import type { KeyType } from './key-type.ts'

/**
 * A key type as it is recorded: a setting that is not used is left out.
 * @throws Refusal `term_without_duration` for a term that starts later and has no length
 */
export function checkedKeyType({ startsAt, ...keyType }: KeyType): KeyType {
  if (startsAt !== 'first_activation') return keyType
  if (keyType.duration === null) throw new Refusal('term_without_duration')
  return { ...keyType, startsAt }
}
