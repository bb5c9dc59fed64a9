import type { AuditEntry } from '../../../projections/audit/queries.ts'
import { may } from '../../domain/members/roles.ts'
import { actorNames } from '../../history/actors.ts'
import { openSources } from '../../history/audit-sources.ts'
import type { Ports } from '../../ports.ts'
import type { Principal } from '../session/principal.ts'

/** An entry with names in place of ids, and with the network address for those who may see it. */
export type ShownEntry = Omit<AuditEntry, 'sealedAddress'> & {
  who: string
  /** The name of the member or token that it is about; null for other targets. */
  targetName: string | null
  address: string | null
}

/** Where members called from is shown to those who manage members, and to auditors, as on the System page. */
const maySeeAddresses = ({ role }: Principal): boolean => may(role, 'manage_members') || role === 'auditor'

/** Opens what is sealed, for display only: it is unreadable once the person was erased. */
export async function shownEntries(
  ports: Ports<'db' | 'subjects'>,
  principal: Principal,
  entries: readonly AuditEntry[],
): Promise<ShownEntry[]> {
  const { tenantId } = principal
  const targets = entries.map(targetActor)
  const [nameOf, addresses] = await Promise.all([
    actorNames(ports, tenantId, [...entries.map(({ actor }) => actor), ...targets]),
    maySeeAddresses(principal) ? openSources(ports, tenantId, entries) : [],
  ])
  return entries.map(({ sealedAddress: _, ...entry }, index) => {
    const target = targets[index]
    return {
      ...entry,
      who: nameOf(entry.actor),
      targetName: target ? nameOf(target) : null,
      address: addresses[index] ?? null,
    }
  })
}

/** A member or token that an entry is about, as an actor, so that it gets its name. */
const targetActor = ({ targetKind, targetId }: AuditEntry): string | null =>
  targetId !== null && (targetKind === 'member' || targetKind === 'token')
    ? `${targetKind}:${targetId}`
    : null
