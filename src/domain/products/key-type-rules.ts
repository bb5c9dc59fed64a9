import { Refusal } from '../refusal.ts'
import type { KeyType } from './key-type.ts'

/**
 * The key type, unless its term has nothing that could start.
 * @throws Refusal `term_without_duration` for a term that starts later and has no length
 */
export function startable(keyType: KeyType): KeyType {
  if (keyType.startsAt === 'first_activation' && keyType.duration === null)
    throw new Refusal('term_without_duration')
  return keyType
}
