import { Refusal } from '../refusal.ts'
import { type KeyType, withoutUnset } from './key-type.ts'

/**
 * A key type as it is recorded.
 * @throws Refusal `term_without_duration` for a term that starts later and has no length
 */
export function checkedKeyType(keyType: KeyType): KeyType {
  if (keyType.startsAt === 'first_activation' && keyType.duration === null)
    throw new Refusal('term_without_duration')
  return withoutUnset(keyType)
}
