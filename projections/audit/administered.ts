import type { Recorded } from '../../src/domain/recorded.ts'
import type { AdministeredKind, AuditedAction } from './actions.ts'
import type { Fields } from './fields.ts'

/** A change of what an administrator manages, as one event tells it. */
export type Administration = {
  action: AuditedAction
  /** What was changed, and its id in public terms; null where a tenant has only one. */
  kind: AdministeredKind
  id: string | null
  /** The new values; null where it was deleted, with all that is known of it. */
  fields: Fields | null
  /** The fields are all that it has: others that it had before are gone. */
  whole?: true
  /** Undefined where only the first event of the stream names it. */
  tenantId?: string | undefined
}

export type Own<C extends Recorded['category']> = Recorded<C>

/** The part of a stream's id after its tenant. */
export const lastOf = ({ stream }: Recorded): string => stream.slice(stream.indexOf('.') + 1)
export const tenantOf = ({ stream }: Recorded): string =>
  stream.slice(stream.indexOf('-') + 1).split('.', 1)[0] ?? ''
export const idOf = ({ stream }: Recorded): string => stream.slice(stream.indexOf('-') + 1)
