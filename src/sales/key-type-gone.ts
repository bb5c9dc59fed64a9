import { Refusal } from '../domain/refusal.ts'

/** For a `catch`: the read models may not show yet that a key type was deleted. @throws everything else */
export function undefinedIfKeyTypeGone(error: unknown): undefined {
  if (!(error instanceof Refusal) || error.code !== 'key_type_not_found') throw error
}
